#pragma once

#include <stdexcept>

#include "sim/run/run_config.h"
#include "sim/study/explain/simulate.h"
#include "sim/view/report/explanations.h"

/// Explains the cycles of a run: for the run and for each layer one sentence from counters and schedule, with
/// the simulated speedup of a change of the machine.
namespace systole::explain {

/// The run itself cannot be simulated. The message is that of the original error; a run in this process
/// throws that error with its own type.
class CannotRun : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Simulates the run without values, then the changes that might help against the main cause of the cycles of
/// the run and of each layer. Throws ConfigError, CannotRun.
report::Explanations explain(const run::RunConfig& config, const Simulate& simulate = on_all_cores());

}  // namespace systole::explain
