#pragma once

#include <string>
#include <string_view>

namespace systole::terminal {

/// A text on one line that a terminal does not obey: names of files may hold anything. Line breaks become
/// blanks. Bytes of other characters that control the terminal or the order of a line, and what is not UTF-8,
/// are written as \x1b.
std::string printable(std::string_view text);

}  // namespace systole::terminal
