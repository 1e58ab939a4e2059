#pragma once

#include "compiler/ir/graph.h"

namespace systole::passes {

/// Throws ModelError if inferences depend on each other as no chip computes it yet: inputs that a batch
/// shares, and nodes that combine a batch.
void check_inferences(const ir::Graph& graph);

/// Throws ModelError, with the input or layer, for what only machines with tensor cores do: they keep state,
/// work on words, and sum over the cores of a machine, for which the result for an image depends on others of
/// its batch.
void refuse_work_of_tensor_cores(const ir::Graph& graph);

/// As check_inferences, and throws ModelError, with the layer, if the network has what graphs can say but no
/// chip of integers runs: weights that another node computes, and an order of float32 sums. The reference
/// runs such networks.
void check_chip_limits(const ir::Graph& graph);

}  // namespace systole::passes
