#include "sim/cli/study_progress.h"

#include <fmt/format.h>

#include "sim/view/report/numbers.h"

namespace systole::cli {
namespace {

/// "45 s", "12 min", "3.5 h".
std::string duration(double seconds) {
    if (seconds < 100.0) return fmt::format("{:.0f} s", seconds);
    if (seconds < 6000.0) return fmt::format("{:.0f} min", seconds / 60.0);
    return fmt::format("{:.1f} h", seconds / 3600.0);
}

}  // namespace

std::string progress_text(const sweep::Progress& progress, bool is_ending) {
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

}  // namespace systole::cli
