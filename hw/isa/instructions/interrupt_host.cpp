#include "hw/isa/instructions/interrupt_host.h"

#include "hw/isa/footprint.h"

namespace systole::isa {

void InterruptHost::fields(FieldVisitor& /*visitor*/) {}

Footprint InterruptHost::footprint(const Registers& /*registers*/, const Geometry& /*geometry*/) const {
    return {};
}

}  // namespace systole::isa
