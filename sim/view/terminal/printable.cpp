#include "sim/view/terminal/printable.h"

#include <fmt/format.h>

#include "sim/view/terminal/characters.h"

namespace systole::terminal {

std::string printable(std::string_view text) {
    std::string line;
    while (!text.empty()) {
        const Character character = first_character(text);
        const std::string_view bytes = text.substr(0, character.bytes);
        if (bytes == "\n" || bytes == "\r") {
            line += ' ';
        } else if (character.is_printable) {
            line += bytes;
        } else {
            for (const char byte : bytes) line += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
        }
        text.remove_prefix(character.bytes);
    }
    return line;
}

}  // namespace systole::terminal
