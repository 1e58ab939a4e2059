#pragma once

#include "hw/machine/machine_config.h"
#include "sim/run/path_finder.h"
#include "sim/run/record/spec.h"
#include "sim/run/run_config.h"

namespace systole::run {

/// The run's machine file with the run's settings over it. Throws ConfigError.
machine::MachineConfig read_machine(const RunConfig& config, const PathFinder& paths);

/// What the configuration asks for: names and paths resolved, files by their contents. Whoever opens a file
/// that cannot be read says so. Throws ConfigError.
RunSpec make_spec(const RunConfig& config);

}  // namespace systole::run
