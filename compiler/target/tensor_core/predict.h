#pragma once

#include "base/cycle.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"

namespace systole::tensor_core {

/// About the cycles of a program: units work side by side, but for layers, which follow each other. The costs
/// are those of hw/timing.
Cycle predicted_cycles(const isa::Program& program, const machine::MachineConfig& machine);

}  // namespace systole::tensor_core
