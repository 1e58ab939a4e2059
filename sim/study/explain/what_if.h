#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/machine/machine_config.h"
#include "sim/run/run_config.h"
#include "sim/study/explain/cause.h"

namespace systole::explain {

/// A change of the machine or of the batch.
struct WhatIf {
    std::string change;                  ///< "4x the weight bandwidth": the subject of a sentence
    std::vector<run::Setting> settings;  ///< as --set takes them: "machine.KEY", "batch"
};

/// The facts about the run on which the choice of changes depends.
struct Situation {
    run::RunConfig config;
    machine::MachineConfig machine;
    std::uint64_t inferences = 1;
    std::vector<machine::UnitDescription> units = {};
};

/// The changes that might help against the cause, without those that would leave this run as it is.
std::vector<WhatIf> what_ifs(Cause cause, const Situation& situation);

/// The same run reduced to its cycles: without values and without output files.
run::RunConfig for_cycles(const run::RunConfig& config);

/// The run with the change applied.
run::RunConfig changed(run::RunConfig config, const WhatIf& what_if);

/// "KEY=VALUE".
std::string to_text(const run::Setting& setting);

}  // namespace systole::explain
