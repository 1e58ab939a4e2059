#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/run/run_config.h"
#include "sim/study/explain/facts.h"

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

}  // namespace systole::explain
