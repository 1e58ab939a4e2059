#include "sim/view/terminal/characters.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace systole::terminal {
namespace {

struct Codes {
    std::uint32_t first;
    std::uint32_t last;
};

template <std::size_t count>
bool in(const std::array<Codes, count>& ranges, std::uint32_t code) {
    return std::any_of(ranges.begin(), ranges.end(),
                       [code](const Codes& range) { return code >= range.first && code <= range.last; });
}

/// Control characters, surrogates, and marks that change the direction of a line or join its characters.
constexpr std::array<Codes, 7> not_printable{{{0x00, 0x1f},
                                              {0x7f, 0x9f},
                                              {0x200b, 0x200f},
                                              {0x2028, 0x202e},
                                              {0x2060, 0x206f},
                                              {0xd800, 0xdfff},
                                              {0xfeff, 0xfeff}}};

/// The ranges that fmt pads as two columns, so that columns of a table agree.
constexpr std::array<Codes, 12> wide{{{0x1100, 0x115f},
                                      {0x2329, 0x232a},
                                      {0x2e80, 0x303e},
                                      {0x3040, 0xa4cf},
                                      {0xac00, 0xd7a3},
                                      {0xf900, 0xfaff},
                                      {0xfe10, 0xfe19},
                                      {0xfe30, 0xfe6f},
                                      {0xff00, 0xff60},
                                      {0xffe0, 0xffe6},
                                      {0x1f300, 0x1f64f},
                                      {0x20000, 0x3fffd}}};

/// How a character of so many bytes begins, and the least code that needs them.
struct Form {
    std::uint8_t mask;
    std::uint8_t begin;
    std::uint32_t least;
};
constexpr std::array<Form, 4> forms{
    {{0x80, 0x00, 0x00}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}}};

}  // namespace

Character first_character(std::string_view text) {
    constexpr std::uint32_t last_code = 0x10ffff;
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    for (std::size_t length = 1; length <= forms.size() && length <= text.size(); ++length) {
        const Form& form = forms[length - 1];
        if ((byte(0) & form.mask) != form.begin) continue;
        std::uint32_t code = byte(0) & static_cast<std::uint8_t>(~form.mask);
        for (std::size_t i = 1; i < length; ++i) {
            if ((byte(i) & 0xc0U) != 0x80U) return {};
            code = code << 6U | (byte(i) & 0x3fU);
        }
        if (code < form.least || code > last_code) return {};
        return {
            .bytes = length, .columns = in(wide, code) ? 2U : 1U, .is_printable = !in(not_printable, code)};
    }
    return {};
}

}  // namespace systole::terminal
