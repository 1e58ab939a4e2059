#pragma once

#include "compiler/ir/graph.h"

namespace systole::passes {

/// Throws ModelError, with the layer, if the network has what graphs can say but no chip runs yet: weights
/// that another node computes, state, and values that the inferences of a batch share. The reference runs
/// such networks.
void check_chip_limits(const ir::Graph& graph);

}  // namespace systole::passes
