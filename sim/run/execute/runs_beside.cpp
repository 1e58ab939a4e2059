#include "sim/run/execute/runs_beside.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/user_error.h"
#include "sim/run/execute/run.h"
#include "sim/run/record/bytes.h"

namespace systole::run {
namespace {

bool has_requests(const RunSpec& spec) {
    return spec.network && (spec.arrivals.per_second > 0.0 || spec.arrivals.latency_limit_ms > 0.0);
}

bool needs_one(const RunSpec& spec) {
    // Without files, the limit is the number of inferences; without a limit, there is one batch.
    if (spec.compiler.limit == 0) return !spec.data.input.empty();
    return spec.compiler.limit > spec.compiler.batch;
}

/// The cycles of so many inferences of the run's, and nothing else.
RunSpec inferences_of(RunSpec spec, std::uint64_t inferences) {
    spec.compiler.limit = inferences;
    spec.timing_only = true;
    spec.float_reference = false;
    spec.baselines.clear();
    spec.arrivals = {};
    spec.feeding = {};
    spec.observed = {};
    spec.data.labels.reset();
    spec.data.label_names.reset();
    spec.examples.clear();
    return spec;
}

RunSpec batches_of(const RunSpec& spec, std::uint64_t batches) {
    return inferences_of(spec, batches * spec.compiler.batch);
}

/// So many that the pipeline is full behind the first two, as `sim train` has them.
constexpr std::uint64_t full_steps = 4;
/// State has two places, which steps take in turn: a step may take other cycles than the one before it.
constexpr std::uint64_t steps_in_turn = 2;

/// So many steps, of which each has an inference on every core.
RunSpec steps_of(const RunSpec& spec, std::uint64_t steps) {
    RunSpec several = inferences_of(spec, steps * spec.machine.cores());
    several.data = {};
    return several;
}

/// Whether the run itself is one of `full_steps` steps, without values.
bool is_full_row(const RunSpec& spec) {
    return spec.timing_only && spec.data.input.empty() &&
           spec.compiler.limit == full_steps * spec.machine.cores();
}

/// What a step of the last ones of `more` costs, which has `steps_in_turn` more than `fewer`. Absent where it
/// costs nothing.
std::optional<FurtherStep> difference(const RunRecord& more, const RunRecord& fewer) {
    if (more.cycles < fewer.cycles + steps_in_turn) return std::nullopt;
    FurtherStep step;
    step.cycles = (more.cycles - fewer.cycles) / steps_in_turn;
    for (std::size_t i = 0; i < more.bounds.size(); ++i) {
        machine::Bound bound = more.bounds[i];
        // Where units wait less with more steps, these add nothing.
        bound.run -= std::min(bound.run, fewer.bounds.at(i).run);
        bound.run /= steps_in_turn;
        bound.by_tag.clear();
        step.bounds.push_back(std::move(bound));
    }
    return step;
}

/// As many batches as fill a pipeline, and show by which interval they follow each other.
RunSpec row_of_batches(const RunSpec& spec) {
    RunSpec row = batches_of(spec, BatchLatency::enough);
    row.data.input.clear();  // which may have fewer images
    row.data.random_input = 0;
    return row;
}

ChildAnswer record_of(const RunSpec& spec) {
    ChildProcess child;
    return child.run([&] { return to_bytes(run(spec)); });
}

RunRecord read_answer(const ChildAnswer& answer, std::string_view what) {
    if (!answer.is_result) throw UserError(fmt::format("{}: {}", what, answer.bytes));
    return read_record(answer.bytes);
}

}  // namespace

RunsBeside::RunsBeside(const RunSpec& spec) {
    if (spec.network && !spec.examples.empty()) {
        steps_ = record_of(steps_of(spec, full_steps - steps_in_turn));
        if (!is_full_row(spec)) one_step_more_ = record_of(steps_of(spec, full_steps));
    }
    if (!has_requests(spec)) return;
    if (needs_one(spec)) alone_ = record_of(batches_of(spec, 1));
    const bool is_less =
        spec.data.input.empty() && spec.compiler.limit > 0 && spec.compiler.limit < spec.compiler.batch;
    if (!is_less) row_ = record_of(row_of_batches(spec));
}

void RunsBeside::add_to(RunRecord& record) const {
    if (steps_) {
        const RunRecord fewer = read_answer(*steps_, "a few steps");
        record.step =
            difference(one_step_more_ ? read_answer(*one_step_more_, "a few steps") : record, fewer);
    }
    if (!record.latency) return;
    if (alone_) record.latency->alone = read_answer(*alone_, "one batch alone").cycles;
    // A run of less than a batch is compiled for it.
    if (!row_ || record.program.inferences < record.program.batch) return;
    const std::optional<BatchLatency> row = read_answer(*row_, "a row of batches").latency;
    if (!row) return;
    record.latency->first = row->first;
    record.latency->intervals = row->intervals;
    record.latency->between = row->between;
}

}  // namespace systole::run
