#pragma once

#include <string_view>

namespace systole {

/// The mark at the beginning of a file of UTF-8 that some editors write.
inline constexpr std::string_view utf8_mark = "\xEF\xBB\xBF";

/// A text without the mark.
inline std::string_view without_utf8_mark(std::string_view text) {
    return text.starts_with(utf8_mark) ? text.substr(utf8_mark.size()) : text;
}

/// Whether a text that should begin with a letter of ASCII is UTF-16: by its mark, or by a zero in one of the
/// first two bytes.
inline bool is_utf16(std::string_view text) {
    if (text.size() < 2) return false;
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) return true;
    return (text[0] == '\0') != (text[1] == '\0');
}

}  // namespace systole
