#pragma once

#include <optional>

#include "sim/run/execute/process.h"
#include "sim/run/record/record.h"

namespace systole::run {

/// The run of one batch alone, beside a run of several: where requests arrive, a batch often has the chip to
/// itself, and then its latency is that of such a run (sim/view/arrivals).
class LoneBatch {
public:
    /// Simulates one batch, without values, if requests arrive and the run may have several batches. This is
    /// done in a copy of this process, which must have no other thread and no simulation.
    explicit LoneBatch(const RunSpec& spec);

    /// Completes the record of the run. Throws UserError if only the batch alone could not be run.
    void add_to(RunRecord& record) const;

private:
    std::optional<ChildAnswer> answer_;  ///< the record's bytes
};

}  // namespace systole::run
