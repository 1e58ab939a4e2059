#include "hw/isa/instructions/read_program.h"

#include "hw/isa/fields.h"
#include "hw/isa/footprint.h"

namespace systole::isa {

void ReadProgram::fields(FieldVisitor& visitor) {
    visitor.number({.name = "bytes", .bytes = 4, .minimum = 1, .positional = true}, bytes);
}

Footprint ReadProgram::footprint(const Registers& /*registers*/, const Geometry& /*geometry*/) const {
    return {};
}

}  // namespace systole::isa
