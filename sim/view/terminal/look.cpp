#include "sim/view/terminal/look.h"

#include <fmt/format.h>

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

}  // namespace

std::string Look::paint(Role role, std::string_view text) const {
    if (!colours || text.empty()) return std::string(text);
    const std::string begin = fmt::format("\x1b[{}m", rendition(role));
    constexpr std::string_view end = "\x1b[0m";
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
