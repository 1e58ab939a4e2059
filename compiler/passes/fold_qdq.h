#pragma once

#include "compiler/ir/graph.h"

namespace systole::passes {

/// Turns float work between a `dequantize` and a `quantize` into work on integers: matrix work with weights
/// that were integers, sums and products, functions as lookups, pooling, and what only moves elements. A
/// `dequantize` moves behind nodes that only move elements, and a pair that cancels goes. What integers of
/// the operator cannot express stays on float32, for the host.
ir::Graph fold_qdq(ir::Graph graph);

}  // namespace systole::passes
