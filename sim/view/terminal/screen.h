#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/view/terminal/look.h"

namespace systole::terminal {

/// When texts are printed in colours.
enum class Colours : std::uint8_t { Auto, Always, Never };
inline constexpr std::array<std::string_view, 3> colours_names{"auto", "always", "never"};

/// The inputs that determine a look: the output's kind, and the environment.
struct TerminalEnvironment {
    bool is_terminal = false;
    std::optional<std::size_t> window_columns;  ///< as the terminal reports
    std::string columns;                        ///< COLUMNS, which overrides it
    std::string no_color;                       ///< NO_COLOR
    std::string term;                           ///< TERM
};

/// The inputs for a file descriptor.
TerminalEnvironment terminal_environment(int descriptor);

/// `Auto` means colours on a terminal that has them, unless NO_COLOR is set (no-color.org). The width is that
/// of the terminal, with or without colours; a terminal of unknown width gets the fixed layout. No layout is
/// narrower than `least_columns`.
Look look_in(const TerminalEnvironment& environment, Colours colours);
inline constexpr std::size_t least_columns = 60;

/// The outputs of a program, with the colours that its user chose.
struct Screen {
    Colours colours = Colours::Auto;

    Look out() const;    ///< of stdout
    Look error() const;  ///< of stderr
};

}  // namespace systole::terminal
