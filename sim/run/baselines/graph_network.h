#pragma once

#include "compiler/ir/graph.h"
#include "sim/run/baselines/network.h"

namespace systole::baselines {

/// The work of a network, for any processor, by layer. A node without multiply-accumulates that computes one
/// element from each element of its only input (an activation function, a batch normalization, a reshape)
/// counts as part of the layer before it, because frameworks fuse the two.
Network network_of(const ir::Graph& graph);

}  // namespace systole::baselines
