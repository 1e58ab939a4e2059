#include "sim/cli/study_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <string>

#include "sim/view/report/numbers.h"

namespace systole::cli {
namespace {

/// "45 s", "12 min", "3.5 h".
std::string duration(double seconds) {
    if (seconds < 100.0) return fmt::format("{:.0f} s", seconds);
    if (seconds < 6000.0) return fmt::format("{:.0f} min", seconds / 60.0);
    return fmt::format("{:.1f} h", seconds / 3600.0);
}

std::string line_of(const sweep::Progress& progress, bool is_ending) {
    const sweep::Counts& counts = progress.counts;
    std::string line = fmt::format("{} of {} points", report::grouped(counts.done + counts.failed),
                                   report::grouped(counts.all()));
    if (counts.failed > 0) line += fmt::format(", {} failed", report::grouped(counts.failed));
    if (is_ending) return line + "; finishing what runs (Ctrl-C again ends at once)";
    if (progress.finished > 0 && progress.seconds > 0.0) {
        const double rate = static_cast<double>(progress.finished) / progress.seconds;
        const auto left = static_cast<double>(counts.pending + counts.running);
        line += fmt::format(", {:.3g} a second, {} left", rate, duration(left / rate));
    }
    return line;
}

}  // namespace

StudyProgress::StudyProgress()
    : is_terminal_(isatty(STDERR_FILENO) == 1),
      next_(std::chrono::steady_clock::now() + std::chrono::seconds(is_terminal_ ? 1 : 60)) {}

StudyProgress::~StudyProgress() {
    if (!shown_ || !is_terminal_) return;
    std::fputs("\r\x1b[K", stderr);  // erases the line: the answer takes its place
    std::fflush(stderr);
}

void StudyProgress::show(const sweep::Progress& progress, bool is_ending) {
    const Time now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::milliseconds(is_terminal_ ? 200 : 60'000);
    shown_ = true;
    const std::string line = line_of(progress, is_ending);
    if (is_terminal_) {
        fmt::print(stderr, "\r\x1b[K{}", line);
    } else {
        fmt::print(stderr, "sim: {}\n", line);
    }
    std::fflush(stderr);
}

}  // namespace systole::cli
