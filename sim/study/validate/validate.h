#pragma once

#include <string>

#include "sim/run/path_finder.h"
#include "sim/study/validate/results.h"

/// Compares the simulator with published measurements.
namespace systole::validate {

/// Reads the target's files and simulates all that tables and plots need. `target` is a file, or a name in
/// configs/validation. Throws ConfigError, ModelError.
Results validate(const std::string& target, const run::PathFinder& paths);

}  // namespace systole::validate
