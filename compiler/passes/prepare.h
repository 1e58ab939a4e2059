#pragma once

#include "compiler/graph/quantized_network.h"
#include "compiler/ir/graph.h"
#include "compiler/passes/calibrate.h"
#include "compiler/passes/pass_manager.h"

namespace systole::passes {

/// The passes that take out what the chip need not know of: identities, batch normalizations, foldable
/// borders, concatenations for dense layers. What they leave computes the same, up to the rounding of float.
PassManager simplification();

/// Runs them. Throws ModelError.
ir::Graph simplify(const ir::Graph& graph, const PassObserver& observer = {});

/// From the network as its file describes it to the network as the chip computes it: simplify, then
/// quantize. Throws ModelError.
quantized::Network prepare(const ir::Graph& graph, const Calibration& calibration,
                           const PassObserver& observer = {});

}  // namespace systole::passes
