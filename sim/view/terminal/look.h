#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Text for people at a terminal: colours, widths, and what the terminal allows of them.
namespace systole::terminal {

/// What a piece of text means; the same meaning has the same colour everywhere. The four classes of
/// matrix-unit cycles are those of the page of a report (sim/view/page/web/src/palette.js).
enum class Role : std::uint8_t { Heading, Active, WeightStall, WeightShift, NonMatrix, Wrong };

/// How a text is to look. The default is what files and other programs get: the fixed layout, no colours.
struct Look {
    bool colours = false;
    /// Of the terminal: no line is longer. Absent: the fixed layout, for 80 columns, in which listings take
    /// what they need.
    std::optional<std::size_t> columns = {};

    /// Columns to lay a text out for.
    std::size_t width() const { return columns.value_or(80); }
    /// The text in the role's colour, or as it is.
    std::string paint(Role role, std::string_view text) const;
};

/// Columns that a text takes: what is painted takes no more.
std::size_t columns_of(std::string_view text);

}  // namespace systole::terminal
