#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace systole {

/// A name from a file for messages: in quotes on one line, with control characters escaped and limited
/// length.
inline std::string in_quotes(std::string_view name) {
    constexpr std::size_t longest = 80;
    constexpr unsigned char first_printable = 0x20;
    constexpr unsigned char del = 0x7f;
    std::string text = "\"";
    for (const char c : name.substr(0, longest)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < first_printable || byte == del) {
            text += fmt::format("\\x{:02x}", byte);
        } else {
            text += c;
        }
    }
    return text + (name.size() > longest ? "...\"" : "\"");
}

/// A number and what it counts, for messages: "1 input", "2 inputs".
inline std::string counted(std::size_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// The elements of a range as "a, b, c", each after `prefix`. (Used instead of fmt::join, about which g++ 12
/// gives a wrong overflow warning.)
template <typename Range>
std::string joined(const Range& range, std::string_view prefix = "") {
    std::string text;
    for (const auto& element : range)
        text += fmt::format("{}{}{}", text.empty() ? "" : ", ", prefix, element);
    return text;
}

}  // namespace systole
