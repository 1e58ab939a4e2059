#pragma once

#include "compiler/ir/graph.h"
#include "sim/run/baselines/network.h"

namespace systole::baselines {

/// What a network asks of any processor, by its layers. A node without multiply-accumulates that makes one
/// element of each element of its only input (an activation function, a batch normalization, a reshape) is
/// counted as part of the layer before it, as frameworks fuse it.
Network network_of(const ir::Graph& graph);

}  // namespace systole::baselines
