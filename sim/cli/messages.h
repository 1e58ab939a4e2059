#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "sim/view/terminal/look.h"

/// What the program prints. Names in texts, of files, layers and studies, cannot control the terminal.
namespace systole::cli {

/// Prints a text for people, made for this look, on stdout.
void print_for_people(const terminal::Look& look, std::string_view text);
template <typename... Arguments>
void print_text(const terminal::Look& look, fmt::format_string<Arguments...> format,
                Arguments&&... arguments) {
    print_for_people(look, fmt::format(format, std::forward<Arguments>(arguments)...));
}
/// Prints JSON, CSV and the like on stdout: as it is, unless that is a terminal.
void print_data(std::string_view text);

// Messages on stderr: one line each, whatever names and numbers of the user are in them. Control characters,
// which a terminal would obey, are written as \x1b, and of numbers of hundreds of digits the first.

/// "sim: MESSAGE".
void print_error(const terminal::Look& look, std::string_view message);
/// "sim: warning: MESSAGE". The command goes on.
void print_warning(const terminal::Look& look, std::string_view message);

}  // namespace systole::cli
