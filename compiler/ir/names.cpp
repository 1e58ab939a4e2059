#include "compiler/ir/names.h"

namespace systole::ir {

std::string quoted(std::string_view name) {
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

}  // namespace systole::ir
