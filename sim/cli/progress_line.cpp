#include "sim/cli/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace systole::cli {
namespace {

constexpr std::chrono::milliseconds first_on_terminal(1000);
constexpr std::chrono::milliseconds between_on_terminal(200);
constexpr std::chrono::milliseconds between_in_log(60'000);
constexpr std::chrono::milliseconds first_of_long(120'000);

std::chrono::milliseconds first_wait(bool is_terminal, ProgressLine::Log log) {
    if (is_terminal) return first_on_terminal;
    return log == ProgressLine::Log::EachMinuteOfLong ? first_of_long : between_in_log;
}

}  // namespace

ProgressLine::ProgressLine(Log log)
    : is_terminal_(isatty(STDERR_FILENO) == 1),
      next_(std::chrono::steady_clock::now() + first_wait(is_terminal_, log)) {}

ProgressLine::~ProgressLine() {
    erase();  // the result takes its place
}

void ProgressLine::erase() {
    if (!shown_ || !is_terminal_) return;
    shown_ = false;
    std::fputs("\r\x1b[K", stderr);
    std::fflush(stderr);
}

void ProgressLine::show(const std::function<std::string()>& text) {
    const Time now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + (is_terminal_ ? between_on_terminal : between_in_log);
    shown_ = true;
    if (is_terminal_) {
        fmt::print(stderr, "\r\x1b[K{}", text());
    } else {
        fmt::print(stderr, "sim: {}\n", text());
    }
    std::fflush(stderr);
}

}  // namespace systole::cli
