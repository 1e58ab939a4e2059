#pragma once

#include "compiler/ir/graph.h"

namespace systole::passes {

/// Throws ModelError, with the layer, if the network has what graphs can say but no chip runs yet: weights
/// that another node computes, state, values that the inferences of a batch share, and an order of
/// float32 sums. The reference runs such networks.
void check_chip_limits(const ir::Graph& graph);

}  // namespace systole::passes
