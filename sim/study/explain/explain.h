#pragma once

#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/run/run_config.h"
#include "sim/study/explain/facts.h"
#include "sim/view/report/explanations.h"

/// Explains the cycles of a run: for the run and for each layer one sentence from counters and schedule, with
/// the simulated speedup of a change of the machine.
namespace systole::explain {

/// A simulation, or the error that prevented it: a machine that cannot be built, a batch that does not fit.
struct Answer {
    std::optional<Simulation> simulation;
    std::string error;
};

/// Simulates the runs; the results are in their order. Tests pass a function that computes made-up results.
using Simulate = std::function<std::vector<Answer>(std::span<const run::RunConfig>)>;

/// Simulates on all cores, in worker processes. This process must not have begun a simulation (see
/// run::Executor).
Simulate on_all_cores();

/// The run itself cannot be simulated. The message is that of the original error; a run in this process
/// throws that error with its own type.
class CannotRun : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Simulates the run without values. Then, for the run and for each layer, simulates the changes that might
/// help against its main cause. Throws ConfigError, CannotRun.
report::Explanations explain(const run::RunConfig& config, const Simulate& simulate = on_all_cores());

}  // namespace systole::explain
