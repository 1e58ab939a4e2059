#pragma once

#include <cstddef>
#include <string_view>

namespace systole::terminal {

/// A character of a text in UTF-8.
struct Character {
    std::size_t bytes = 1;
    std::size_t columns = 1;  ///< on a terminal; 2 for a wide one, as of Chinese
    /// False for a byte that is not UTF-8, and for characters that control the terminal or the order of a
    /// line.
    bool is_printable = false;
};

/// The first character of a text that is not empty.
Character first_character(std::string_view text);

}  // namespace systole::terminal
