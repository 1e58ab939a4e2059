#pragma once

#include <string>
#include <string_view>

namespace systole::isa {

/// A name assembly takes without quotes: a letter or `_`, then letters, digits and `_ . : / -`.
bool is_name(std::string_view text);

/// The text in double quotes, control characters, quotes and backslashes escaped: one line.
std::string quoted(std::string_view text);

/// The text as assembly writes it: bare if it is a name, else in quotes.
std::string as_word(std::string_view text);

}  // namespace systole::isa
