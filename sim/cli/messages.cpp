#include "sim/cli/messages.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>

#include "sim/view/terminal/printable.h"

namespace systole::cli {
namespace {

bool is_digit(char letter) {
    return letter >= '0' && letter <= '9';
}

/// The text with the first digits alone of numbers that have more than any right one.
std::string with_short_numbers(std::string_view text) {
    constexpr std::size_t most_digits = 60;
    constexpr std::size_t shown_digits = 20;
    std::string result;
    while (!text.empty()) {
        const auto end = std::ranges::find_if_not(text, is_digit);
        const auto digits = static_cast<std::size_t>(end - text.begin());
        const bool is_long = digits > most_digits;
        const std::size_t taken = std::max<std::size_t>(digits, 1);
        result += text.substr(0, is_long ? shown_digits : taken);
        if (is_long) result += fmt::format("... ({} digits)", digits);
        text.remove_prefix(taken);
    }
    return result;
}

void print_line(const terminal::Look& look, std::string_view kind, std::string_view message) {
    while (message.ends_with('\n')) message.remove_suffix(1);
    const std::string text = with_short_numbers(terminal::printable(message));
    const std::string line = fmt::format("{} {}{}\n", look.paint(terminal::Role::Wrong, "sim:"), kind, text);
    std::fputs(line.c_str(), stderr);  // if stderr is closed, the exit code alone tells
}

}  // namespace

void print_for_people(const terminal::Look& look, std::string_view text) {
    fmt::print("{}", look.cleaned(text));
}

void print_data(std::string_view text) {
    if (::isatty(STDOUT_FILENO) == 1) {
        print_for_people({}, text);
    } else {
        fmt::print("{}", text);
    }
}

void print_error(const terminal::Look& look, std::string_view message) {
    print_line(look, "", message);
}

void print_warning(const terminal::Look& look, std::string_view message) {
    print_line(look, "warning: ", message);
}

}  // namespace systole::cli
