#include "hw/isa/instructions/halt.h"

#include "hw/isa/footprint.h"

namespace systole::isa {

void Halt::fields(FieldVisitor& /*visitor*/) {}

Footprint Halt::footprint(const Registers& /*registers*/, const Geometry& /*geometry*/) const {
    return {};
}

}  // namespace systole::isa
