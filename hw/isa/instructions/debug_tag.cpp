#include "hw/isa/instructions/debug_tag.h"

#include "hw/isa/fields.h"
#include "hw/isa/footprint.h"

namespace systole::isa {

void DebugTag::fields(FieldVisitor& visitor) {
    visitor.number({.name = "tag", .bytes = 2, .positional = true}, tag);
}

Footprint DebugTag::footprint(const Registers& /*registers*/, const Geometry& /*geometry*/) const {
    return {};
}

}  // namespace systole::isa
