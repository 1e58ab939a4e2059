#pragma once

#include "compiler/graph/quantized_network.h"
#include "compiler/ir/graph.h"
#include "compiler/passes/calibrate.h"

namespace systole::passes {

/// The graph without what the chip need not know of: identities, batch normalizations, foldable borders,
/// concatenations for dense layers.
/// It computes the same, up to the rounding of float.
ir::Graph simplify(const ir::Graph& graph);

/// From the network as its file describes it to the network as the chip computes it: simplify, then
/// quantize. Throws ModelError.
quantized::Network prepare(const ir::Graph& graph, const Calibration& calibration);

}  // namespace systole::passes
