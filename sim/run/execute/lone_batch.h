#pragma once

#include <optional>

#include "sim/run/execute/process.h"
#include "sim/run/record/record.h"

namespace systole::run {

/// Runs beside a run, where requests arrive: of one batch alone, because a batch often has the chip to
/// itself, and of a row of full batches, by whose interval a loaded chip takes them (sim/view/arrivals). So
/// the number of inferences of the run itself, and a last batch that is not full, change nothing.
class LoneBatch {
public:
    /// Simulates them, without values, if requests arrive: one batch alone if the run may have several. This
    /// is done in copies of this process, which must have no other thread and no simulation.
    explicit LoneBatch(const RunSpec& spec);

    /// Completes the record of the run. Throws UserError if only these other runs were not possible.
    void add_to(RunRecord& record) const;

private:
    // The records' bytes.
    std::optional<ChildAnswer> alone_;
    std::optional<ChildAnswer> row_;
};

}  // namespace systole::run
