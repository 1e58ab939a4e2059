#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/run/run_config.h"
#include "sim/study/explain/facts.h"

namespace systole::explain {

/// A simulation, or why there is none: a machine that cannot be built, a batch that does not fit.
struct Answer {
    std::optional<Simulation> simulation;
    std::string error;
};

/// Who simulates, in the order of the runs. Tests give one that computes what they want.
using Simulate = std::function<std::vector<Answer>(std::span<const run::RunConfig>)>;

/// On all cores, in worker processes (see run::Executor: this process must not have begun a simulation).
Simulate on_all_cores();

}  // namespace systole::explain
