#pragma once

#include <stdexcept>

#include "sim/run/run_config.h"
#include "sim/study/explain/simulate.h"
#include "sim/view/report/explanations.h"

/// Why a run takes what it takes: for the run and each layer one sentence from counters and schedule, and
/// what a change of the machine would bring, by simulation.
namespace systole::explain {

/// The run itself cannot be simulated; the message is its error's. A run in this process throws the error, of
/// its own kind.
class CannotRun : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Simulates the run without values, then the changes that might help against what takes most of the cycles
/// of the run and of each layer. Throws ConfigError, CannotRun.
report::Explanations explain(const run::RunConfig& config, const Simulate& simulate = on_all_cores());

}  // namespace systole::explain
