#include "hw/isa/instructions/set_config.h"

#include "hw/isa/fields.h"
#include "hw/isa/footprint.h"

namespace systole::isa {

void SetConfig::fields(FieldVisitor& visitor) {
    visitor.choice("register", register_names(), reg);
    const bool known = static_cast<std::size_t>(reg) < register_count;
    visitor.number({.name = "value", .bytes = 4, .positional = true, .is_signed = known && is_signed(reg)},
                   value);
}

Footprint SetConfig::footprint(const Registers& /*registers*/, const Geometry& /*geometry*/) const {
    return {};
}

}  // namespace systole::isa
