// A host that makes the input of each step while the chip computes the one before, and the waits for it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "base/message_text.h"
#include "sim/view/report/json_values.h"
#include "sim/view/report/numbers.h"
#include "sim/view/report/report_lines.h"
#include "sim/view/report/sections.h"
#include "sim/view/report/texts.h"

namespace systole::report {
namespace {

/// The steps of the report: those of its training, or the batches of its run.
struct Steps {
    std::uint64_t count = 0;
    double seconds = 0.0;  ///< of the chip, for all of them
    double each = 0.0;     ///< of the chip, for one behind another
    std::uint64_t examples = 0;
};

/// Absent where the run has no time of a batch.
std::optional<Steps> steps_of(const Basis& basis) {
    const std::uint64_t given = basis.record.spec.feeding.examples;
    if (basis.record.training) {
        const run::Training& training = *basis.record.training;
        return Steps{.count = training.steps_an_epoch * training.epochs,
                     .seconds = seconds_of(training.cycles, basis.machine),
                     .each = seconds_of(training.cycles_a_step, basis.machine),
                     .examples = given > 0 ? given : training.batch};
    }
    if (!basis.no_speed.empty() || basis.batches == 0) return std::nullopt;
    return Steps{.count = basis.batches,
                 .seconds = basis.seconds,
                 .each = basis.seconds / static_cast<double>(basis.batches),
                 .examples = given > 0 ? given : basis.record.program.batch};
}

}  // namespace

Json feeding_json(const Basis& basis) {
    const run::Feeding& asked = basis.record.spec.feeding;
    const std::optional<Steps> steps = steps_of(basis);
    if (!asked.is_given() || !steps) return nullptr;
    const double chip = milliseconds * steps->each;
    const double host =
        asked.step_ms + asked.example_us * static_cast<double>(steps->examples) / milliseconds;
    const double wait = std::max(0.0, host - chip);
    const double gap = asked.loop_steps > 0 ? asked.gap_ms / static_cast<double>(asked.loop_steps) : 0.0;
    const double step = chip + wait + gap;
    // Behind the last loop nothing waits.
    const std::uint64_t gaps =
        asked.gap_ms > 0.0 && steps->count > 0 ? (steps->count - 1) / asked.loop_steps : 0;
    return {
        {"examples", steps->examples},
        {"chip_ms", chip},
        {"host_ms", host},
        {"wait_ms", wait},
        {"gap_ms", gap},
        {"step_ms", step},
        {"input_share", or_null(ratio(wait, chip + wait))},
        {"busy_share", or_null(ratio(chip + wait, step))},
        {"examples_per_second", or_null(ratio(milliseconds * static_cast<double>(steps->examples), step))},
        {"steps", steps->count},
        {"gaps", gaps},
        {"seconds", steps->seconds + (static_cast<double>(steps->count) * wait +
                                      static_cast<double>(gaps) * asked.gap_ms) /
                                         milliseconds}};
}

namespace {

class FeedingText : ReportLines {
public:
    FeedingText(const Json& report, const terminal::Look& look)
        : ReportLines(look), report_(report), feeding_(report["feeding"]) {}

    std::string write() && {
        line("{}", heading("Fed by the host"));
        figure_lines(Figure::Part::Feeding, report_,
                     [this](const Figure& figure, std::optional<double> value) {
                         return value ? std::optional(remark(figure)) : std::nullopt;
                     });
        const std::uint64_t gaps = count("gaps");
        entry("all steps", si(*number_at(feeding_, "seconds"), "s"),
              fmt::format("{} and {}; the input of the first is there", counted(count("steps"), "step"),
                          counted(gaps, "gap")));
        return take();
    }

private:
    std::uint64_t count(const char* key) const { return feeding_[key].get<std::uint64_t>(); }

    std::string remark(const Figure& figure) const {
        if (figure.key() == "feeding.host_ms") {
            return fmt::format("for {}, while the chip computes the step before",
                               counted(count("examples"), "example"));
        }
        return std::string(figure.line.remark);
    }

    const Json& report_;
    const Json& feeding_;
};

}  // namespace

std::string feeding_text(const Json& report, const terminal::Look& look) {
    return FeedingText(report, look).write();
}

}  // namespace systole::report
