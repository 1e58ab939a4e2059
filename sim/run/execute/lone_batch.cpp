#include "sim/run/execute/lone_batch.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

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

/// The cycles of so many batches of the run's, and nothing else.
RunSpec batches_of(RunSpec spec, std::uint64_t batches) {
    spec.compiler.limit = batches * spec.compiler.batch;
    spec.timing_only = true;
    spec.float_reference = false;
    spec.baselines.clear();
    spec.arrivals = {};
    spec.observed = {};
    spec.data.labels.reset();
    spec.data.label_names.reset();
    return spec;
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

LoneBatch::LoneBatch(const RunSpec& spec) {
    if (!has_requests(spec)) return;
    if (needs_one(spec)) alone_ = record_of(batches_of(spec, 1));
    const bool is_less =
        spec.data.input.empty() && spec.compiler.limit > 0 && spec.compiler.limit < spec.compiler.batch;
    if (!is_less) row_ = record_of(row_of_batches(spec));
}

void LoneBatch::add_to(RunRecord& record) const {
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
