#include "hw/isa/program.h"

#include <fmt/format.h>

#include <array>

namespace systole::isa {

std::span<const std::string_view> buffer_kind_names() {
    static constexpr std::array<std::string_view, 3> names = {"input", "output", "constant"};
    return names;
}

std::string layer_name(const Program& program, std::uint16_t tag) {
    if (tag == 0) return "(outside layers)";
    if (tag <= program.layers.size()) return program.layers[tag - 1U].name;
    return fmt::format("tag {}", tag);
}

}  // namespace systole::isa
