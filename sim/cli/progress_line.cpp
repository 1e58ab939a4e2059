#include "sim/cli/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace systole::cli {

ProgressLine::ProgressLine()
    : is_terminal_(isatty(STDERR_FILENO) == 1),
      next_(std::chrono::steady_clock::now() + std::chrono::seconds(1)) {}

ProgressLine::~ProgressLine() {
    if (!shown_) return;
    std::fputs("\r\x1b[K", stderr);  // erases the line: the report takes its place
    std::fflush(stderr);
}

void ProgressLine::show(std::uint64_t issued, std::uint64_t total) {
    const Time now = std::chrono::steady_clock::now();
    if (!is_terminal_ || now < next_) return;
    next_ = now + std::chrono::milliseconds(200);
    shown_ = true;
    fmt::print(stderr, "\rsimulating: {:3} %, instruction {} of {}",
               100 * issued / std::max<std::uint64_t>(total, 1), issued, total);
    std::fflush(stderr);
}

}  // namespace systole::cli
