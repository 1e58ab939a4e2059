#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/view/terminal/look.h"

namespace systole::terminal {

/// When to print in colours.
enum class Colours : std::uint8_t { Auto, Always, Never };
inline constexpr std::array<std::string_view, 3> colours_names{"auto", "always", "never"};

/// What decides on a look: where a text goes, and the environment.
struct Surroundings {
    bool is_terminal = false;
    std::optional<std::size_t> window_columns;  ///< as the terminal says
    std::string columns;                        ///< COLUMNS, which goes before
    std::string no_color;                       ///< NO_COLOR
    std::string term;                           ///< TERM
};

/// Of a file descriptor.
Surroundings surroundings_of(int descriptor);

/// Auto: colours on a terminal that has them, unless NO_COLOR is set (no-color.org). Widths are a
/// terminal's, whatever the colours; one that does not know its own gets the fixed layout. No layout is
/// narrower than `least_columns`.
Look look_in(const Surroundings& surroundings, Colours colours);
inline constexpr std::size_t least_columns = 60;

/// Where a program prints, with the colours that its user chose.
struct Screen {
    Colours colours = Colours::Auto;

    Look out() const;    ///< of stdout
    Look error() const;  ///< of stderr
};

}  // namespace systole::terminal
