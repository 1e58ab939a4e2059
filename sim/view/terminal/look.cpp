#include "sim/view/terminal/look.h"

#include <fmt/format.h>

#include <array>
#include <stdexcept>

#include "sim/view/terminal/characters.h"

namespace systole::terminal {
namespace {

/// The codes of "select graphic rendition": of the 256 common colours of terminals, those nearest to the
/// colours of the page that are legible on black and on white.
std::string_view rendition(Role role) {
    switch (role) {
        case Role::Heading:
            return "1";  // bold
        case Role::Active:
            return "38;5;32";  // blue
        case Role::WeightStall:
            return "38;5;166";  // orange
        case Role::WeightShift:
            return "38;5;178";  // yellow
        case Role::NonMatrix:
            return "38;5;245";  // gray
        case Role::Wrong:
            return "31";  // the terminal's own red
    }
    throw std::logic_error("a role without colour");
}

constexpr std::string_view end_of_colour = "\x1b[0m";

std::string begin_of(Role role) {
    return fmt::format("\x1b[{}m", rendition(role));
}

/// The codes that `paint` writes, at the begin of a text: their length, or 0.
std::size_t painted(std::string_view text) {
    constexpr std::array roles{Role::Heading,     Role::Active,    Role::WeightStall,
                               Role::WeightShift, Role::NonMatrix, Role::Wrong};
    if (text.starts_with(end_of_colour)) return end_of_colour.size();
    for (const Role role : roles) {
        const std::string begin = begin_of(role);
        if (text.starts_with(begin)) return begin.size();
    }
    return 0;
}

}  // namespace

std::string Look::cleaned(std::string_view text) const {
    std::string shown;
    shown.reserve(text.size());
    while (!text.empty()) {
        const Character character = first_character(text);
        std::size_t length = character.bytes;
        const bool is_layout = text.front() == '\n' || text.front() == '\t';
        const std::size_t codes = colours && text.front() == '\x1b' ? painted(text) : 0;
        if (codes > 0) length = codes;
        if (character.is_printable || is_layout || codes > 0) {
            shown += text.substr(0, length);
        } else {
            shown += '?';
        }
        text.remove_prefix(length);
    }
    return shown;
}

std::string Look::paint(Role role, std::string_view text) const {
    if (!colours || text.empty()) return std::string(text);
    const std::string begin = begin_of(role);
    constexpr std::string_view end = end_of_colour;
    std::string painted = begin;
    for (const char letter : text) {
        // Each line has its own codes, because pagers print lines separately.
        if (letter == '\n') painted += end;
        painted += letter;
        if (letter == '\n') painted += begin;
    }
    return painted += end;
}

std::size_t columns_of(std::string_view text) {
    std::size_t columns = 0;
    bool in_escape = false;
    while (!text.empty()) {
        const Character character = first_character(text);
        if (text.front() == '\x1b') in_escape = true;
        if (!in_escape) columns += character.columns;
        if (text.front() == 'm') in_escape = false;
        text.remove_prefix(character.bytes);
    }
    return columns;
}

}  // namespace systole::terminal
