#pragma once

#include "compiler/ir/graph.h"

namespace systole::passes {

/// Throws ModelError if inferences depend on each other, which no chip computes yet: state, inputs that a
/// batch shares, and nodes that combine a batch.
void check_inferences(const ir::Graph& graph);

/// Throws ModelError, with the layer, for work that only machines with tensor cores do: on words, and sums
/// over the cores of a machine, for which the result for an image depends on others of its batch.
void refuse_work_of_tensor_cores(const ir::Graph& graph);

/// As check_inferences, and throws ModelError, with the layer, if the network has what graphs can say but no
/// chip of integers runs: weights that another node computes, and an order of float32 sums. The reference
/// runs such networks.
void check_chip_limits(const ir::Graph& graph);

}  // namespace systole::passes
