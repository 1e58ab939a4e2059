#include "hw/isa/program.h"

#include <array>

namespace systole::isa {

std::span<const std::string_view> buffer_kind_names() {
    static constexpr std::array<std::string_view, 3> names = {"input", "output", "constant"};
    return names;
}

}  // namespace systole::isa
