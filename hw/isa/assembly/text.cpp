#include "hw/isa/assembly/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace systole::isa {
namespace {

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

}  // namespace

bool is_name(std::string_view text) {
    constexpr std::string_view inner = ".:/-";
    return !text.empty() && is_letter(text.front()) && std::all_of(text.begin(), text.end(), [&](char c) {
        return is_letter(c) || is_digit(c) || inner.find(c) != std::string_view::npos;
    });
}

std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            result += {'\\', c};
        } else if (byte < 0x20 || byte == 0x7f) {
            result += fmt::format("\\x{:02x}", byte);
        } else {
            result += c;
        }
    }
    return result + '"';
}

std::string as_word(std::string_view text) {
    return is_name(text) ? std::string(text) : quoted(text);
}

}  // namespace systole::isa
