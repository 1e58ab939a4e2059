#include "hw/isa/instructions/nop.h"

#include "hw/isa/footprint.h"

namespace systole::isa {

void Nop::fields(FieldVisitor& /*visitor*/) {}

Footprint Nop::footprint(const Registers& /*registers*/, const Geometry& /*geometry*/) const {
    return {};
}

}  // namespace systole::isa
