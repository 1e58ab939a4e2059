#pragma once

#include "compiler/ir/graph.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"

namespace systole::run {

/// States in the graph's program what files have for its inputs and outputs, if these are arrays
/// (sim/run/arrays.h): a run of the program then needs no graph. Constant outputs whose values were not read
/// are left out.
void declare_arrays(isa::Program& program, const ir::Graph& graph, const machine::MachineConfig& machine);

}  // namespace systole::run
