#pragma once

#include "compiler/ir/graph.h"
#include "hw/machine/machine_config.h"

namespace systole::tensor_core {

/// The graph of which a network is made: the same bits with fewer nodes, and rows that fill the lanes.
ir::Graph prepared(const ir::Graph& graph, const machine::MachineConfig& machine);

}  // namespace systole::tensor_core
