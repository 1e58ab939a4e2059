#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Text for people at a terminal: the colours and widths that the terminal supports.
namespace systole::terminal {

/// The meaning of a piece of text; each meaning has the same colour everywhere. The four classes of
/// matrix-unit cycles are those of the page of a report (sim/view/page/web/src/palette.js).
enum class Role : std::uint8_t { Heading, Active, WeightStall, WeightShift, NonMatrix, Wrong };

/// That of a class of the main unit's cycles, the first of which is work.
constexpr Role role_of_class(std::size_t place) {
    constexpr std::array roles{Role::Active, Role::WeightStall, Role::WeightShift, Role::NonMatrix};
    return roles[std::min(place, roles.size() - 1)];
}

/// The look of a text. The default is for files and other programs: the fixed layout without colours.
struct Look {
    bool colours = false;
    /// The width of the terminal: no line is longer. Absent means the fixed layout for 80 columns, in which
    /// listings may be wider.
    std::optional<std::size_t> columns = {};

    /// The columns for which texts are laid out.
    std::size_t width() const { return columns.value_or(80); }
    /// The text in the role's colour, or as it is.
    std::string paint(Role role, std::string_view text) const;
    /// A whole text as a terminal may have it: names of files and layers in it cannot control the terminal.
    /// What is not printable becomes "?", but for line ends, tabs, and the colours that `paint` sets.
    std::string cleaned(std::string_view text) const;
};

/// The columns of a text; colour codes take none.
std::size_t columns_of(std::string_view text);

}  // namespace systole::terminal
