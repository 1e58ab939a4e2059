#pragma once

#include <optional>

#include "sim/run/execute/process.h"
#include "sim/run/record/record.h"

namespace systole::run {

/// Runs beside a run, whose own number of inferences, and a last batch that is not full, then change nothing
/// of what they tell.
///
/// Where requests arrive: of one batch alone, because a batch often has the chip to itself, and of a row of
/// full batches, by whose interval a loaded chip takes them (sim/view/arrivals). Of a program whose examples
/// are known: of a few steps and of one step more, whose difference is what a further step costs.
class RunsBeside {
public:
    /// Simulates them, without values. This is done in copies of this process, which must have no other
    /// thread and no simulation.
    explicit RunsBeside(const RunSpec& spec);

    /// Completes the record of the run. Throws UserError if only these other runs were not possible.
    void add_to(RunRecord& record) const;

private:
    // The records' bytes.
    std::optional<ChildAnswer> alone_;
    std::optional<ChildAnswer> row_;
    std::optional<ChildAnswer> steps_;
    std::optional<ChildAnswer> one_step_more_;
};

}  // namespace systole::run
