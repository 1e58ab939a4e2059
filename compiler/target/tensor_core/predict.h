#pragma once

#include "base/cycle.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"

namespace systole::tensor_core {

/// About the cycles of a program: each unit executes its queue in order and waits for the signals of others.
/// The costs are those of hw/timing; what an instruction takes to be issued is left out.
Cycle predicted_cycles(const isa::Program& program, const machine::MachineConfig& machine);

}  // namespace systole::tensor_core
