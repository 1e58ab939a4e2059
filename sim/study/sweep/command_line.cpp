#include "sim/study/sweep/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace systole::sweep {

std::string shell_word(const std::string& word) {
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
    const auto is_control = [](char letter) {
        return static_cast<unsigned char>(letter) < 0x20 || letter == '\x7f';
    };
    if (std::ranges::any_of(word,
                            is_control)) {  // as bash, ksh and zsh read it: nothing controls the terminal
        std::string escaped = "$'";
        for (const char letter : word) {
            if (is_control(letter)) {
                escaped += fmt::format("\\{:03o}", static_cast<unsigned>(letter));
            } else {
                if (letter == '\'' || letter == '\\') escaped += '\\';
                escaped += letter;
            }
        }
        return escaped + "'";
    }
    std::string quoted = "'";
    for (const char letter : word) {
        if (letter == '\'') {
            quoted += "'\\''";
        } else {
            quoted += letter;
        }
    }
    return quoted + "'";
}

std::string json_text(const nlohmann::ordered_json& value) {
    return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string set_option(const std::string& key, const nlohmann::json& value) {
    const std::string text = value.is_string() ? value.get<std::string>() : json_text(value);
    return " --set " + shell_word(key + "=" + text);
}

}  // namespace systole::sweep
