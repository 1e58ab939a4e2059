#include "hw/isa/unit.h"

#include <algorithm>
#include <array>

namespace systole::isa {
namespace {

constexpr std::array<std::string_view, unit_count> unit_texts = {"host_read", "host_write", "weights",
                                                                 "matrix",    "activation", "host"};

}  // namespace

std::span<const std::string_view> unit_names() {
    return unit_texts;
}

std::string_view name(Unit unit) {
    return unit_texts.at(static_cast<std::size_t>(unit));
}

std::optional<Unit> find_unit(std::string_view name) {
    const auto found = std::find(unit_texts.begin(), unit_texts.end(), name);
    if (found == unit_texts.end()) return std::nullopt;
    return static_cast<Unit>(found - unit_texts.begin());
}

}  // namespace systole::isa
