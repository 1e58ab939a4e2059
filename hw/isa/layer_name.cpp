#include "hw/isa/layer_name.h"

#include <fmt/format.h>

namespace systole::isa {

std::string layer_name(const Program& program, std::uint16_t tag) {
    if (tag == 0) return "(outside layers)";
    if (tag <= program.layers.size()) return program.layers[tag - 1U].name;
    return fmt::format("tag {}", tag);
}

}  // namespace systole::isa
