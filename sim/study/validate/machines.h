#pragma once

#include <string>

#include "hw/machine/machine_config.h"
#include "sim/study/validate/formulas.h"
#include "sim/study/validate/target.h"

namespace systole::validate {

/// The machine with other values of some keys, each a value or a formula in which `machine.KEY` is a value of
/// the machine as it is. A formula that is a row has its number for `element`. `place` leads the messages.
/// Throws ConfigError if the result is no machine.
machine::MachineConfig changed(const machine::MachineConfig& machine, const MachineChanges& changes,
                               Formulas& formulas, const std::string& place, const std::string& element = {});

}  // namespace systole::validate
