#pragma once

#include "hw/machine/machine_config.h"
#include "sim/run/path_finder.h"
#include "sim/run/record/spec.h"
#include "sim/run/run_config.h"

namespace systole::run {

/// The run's machine file with the run's settings applied to it. Throws ConfigError.
machine::MachineConfig read_machine(const RunConfig& config, const PathFinder& paths);

/// The spec of a configuration: names and paths are resolved, and files are identified by their contents. A
/// file that cannot be read is an error only when it is opened later. Throws ConfigError.
RunSpec make_spec(const RunConfig& config);

}  // namespace systole::run
