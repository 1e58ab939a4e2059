#include "hw/isa/unit.h"

#include <algorithm>
#include <array>

namespace systole::isa {
namespace {

constexpr std::array<std::string_view, unit_count> names = {"host_read", "host_write", "weights", "matrix",
                                                            "activation"};

}  // namespace

std::span<const std::string_view> unit_names() {
    return names;
}

std::string_view name(Unit unit) {
    return names.at(static_cast<std::size_t>(unit));
}

std::optional<Unit> find_unit(std::string_view name) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return std::nullopt;
    return static_cast<Unit>(found - names.begin());
}

}  // namespace systole::isa
