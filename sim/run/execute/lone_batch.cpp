#include "sim/run/execute/lone_batch.h"

#include "hw/base/user_error.h"
#include "sim/run/execute/run.h"
#include "sim/run/record/bytes.h"

namespace systole::run {
namespace {

bool needs_one(const RunSpec& spec) {
    if (!spec.network) return false;
    if (!(spec.arrivals.per_second > 0.0) && !(spec.arrivals.latency_limit_ms > 0.0)) return false;
    // Without files, the limit is the number of inferences; without a limit, there is one batch.
    if (spec.compiler.limit == 0) return !spec.data.input.empty();
    return spec.compiler.limit > spec.compiler.batch;
}

/// The cycles of one batch of the run's, and nothing else.
RunSpec one_batch_of(RunSpec spec) {
    spec.compiler.limit = spec.compiler.batch;
    spec.timing_only = true;
    spec.float_reference = false;
    spec.baselines.clear();
    spec.arrivals = {};
    spec.observed = {};
    spec.data.labels.reset();
    spec.data.label_names.reset();
    return spec;
}

}  // namespace

LoneBatch::LoneBatch(const RunSpec& spec) {
    if (!needs_one(spec)) return;
    ChildProcess child;
    answer_ = child.run([&] { return to_bytes(run(one_batch_of(spec))); });
}

void LoneBatch::add_to(RunRecord& record) const {
    if (!answer_ || !record.latency) return;
    if (!answer_->is_result) throw UserError("one batch alone: " + answer_->bytes);
    record.latency->alone = read_record(answer_->bytes).cycles;
}

}  // namespace systole::run
