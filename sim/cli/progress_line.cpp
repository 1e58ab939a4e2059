#include "sim/cli/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace systole::cli {
namespace {

constexpr std::chrono::milliseconds first_on_terminal(1000);
constexpr std::chrono::milliseconds between_on_terminal(200);
constexpr std::chrono::milliseconds between_in_log(60'000);

}  // namespace

ProgressLine::ProgressLine(Log log)
    : is_terminal_(isatty(STDERR_FILENO) == 1),
      log_(log),
      next_(std::chrono::steady_clock::now() + (is_terminal_ ? first_on_terminal : between_in_log)) {}

ProgressLine::~ProgressLine() {
    if (!shown_ || !is_terminal_) return;
    std::fputs("\r\x1b[K", stderr);  // erases the line: the result takes its place
    std::fflush(stderr);
}

void ProgressLine::show(const std::function<std::string()>& text) {
    const Time now = std::chrono::steady_clock::now();
    if (!wanted() || now < next_) return;
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
