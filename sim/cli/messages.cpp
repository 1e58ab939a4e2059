#include "sim/cli/messages.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace systole::cli {
namespace {

void print_line(const terminal::Look& look, std::string_view kind, std::string_view message) {
    std::string line(message);
    while (!line.empty() && line.back() == '\n') line.pop_back();
    std::replace_if(
        line.begin(), line.end(), [](char letter) { return letter == '\n' || letter == '\r'; }, ' ');
    line = look.cleaned(fmt::format("{} {}{}\n", look.paint(terminal::Role::Wrong, "sim:"), kind, line));
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
