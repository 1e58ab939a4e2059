#include "sim/view/terminal/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <stdexcept>

namespace systole::terminal {
namespace {

std::string environment_variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

/// The number, if the text is a whole number above 0.
std::optional<std::size_t> number_in(const std::string& text) {
    std::size_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || stopped != end || number == 0) return std::nullopt;
    return number;
}

bool shows_colours(const TerminalEnvironment& environment, Colours colours) {
    switch (colours) {
        case Colours::Auto:
            return environment.is_terminal && !environment.term.empty() && environment.term != "dumb" &&
                   environment.no_color.empty();
        case Colours::Always:
            return true;
        case Colours::Never:
            return false;
    }
    throw std::logic_error("a choice of colours that does not exist");
}

}  // namespace

TerminalEnvironment terminal_environment(int descriptor) {
    TerminalEnvironment found{.is_terminal = isatty(descriptor) == 1,
                              .window_columns = {},
                              .columns = environment_variable("COLUMNS"),
                              .no_color = environment_variable("NO_COLOR"),
                              .term = environment_variable("TERM")};
    winsize window{};
    if (found.is_terminal && ioctl(descriptor, TIOCGWINSZ, &window) == 0 && window.ws_col > 0) {
        found.window_columns = window.ws_col;
    }
    return found;
}

Look look_in(const TerminalEnvironment& environment, Colours colours) {
    Look look;
    look.colours = shows_colours(environment, colours);
    if (environment.is_terminal) {
        look.columns = number_in(environment.columns);
        if (!look.columns) look.columns = environment.window_columns;
        if (look.columns) look.columns = std::max(*look.columns, least_columns);
    }
    return look;
}

Look Screen::out() const {
    return look_in(terminal_environment(STDOUT_FILENO), colours);
}

Look Screen::error() const {
    return look_in(terminal_environment(STDERR_FILENO), colours);
}

}  // namespace systole::terminal
