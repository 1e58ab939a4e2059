#pragma once

#include <string_view>
#include <variant>

#include "hw/machine/machine_config.h"
#include "sim/run/run_config.h"

/// Runs and machines that another program asks for in JSON, with the keys of the files.
namespace systole::run {

/// Reads {"file": ..., "run": {...}, "machine": {...}, "settings": [["KEY", value], ...],
/// "arrays": ...}:
/// - `file` is a run file or its name in configs/runs; it may be left out.
/// - `run` has keys of a run file, which go over those of the file.
/// - `machine` is the object of a machine file, instead of the file that the run names. Its name is then that
///   of the run's machine.
/// - `settings` are applied last, in their order, as those of the command line (run_config.h).
/// - `arrays` is the folder for the outputs of a run that has values and names no folder for them.
///
/// The result is the run; or, where neither `file` nor `run` is given, the machine, which may then also be a
/// file or its name in configs/machines. Paths are relative to the current folder. Throws ConfigError, also
/// for `out`: nothing here writes reports and traces.
std::variant<RunConfig, machine::MachineConfig> read_request(std::string_view text);

}  // namespace systole::run
