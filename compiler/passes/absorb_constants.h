#pragma once

#include "compiler/ir/graph.h"

namespace systole::passes {

/// Turns sums, differences, products and quotients with a constant for each channel into batch
/// normalizations; with a constant number, those behind a node with weights, which it then becomes part of.
ir::Graph absorb_constants(ir::Graph graph);

}  // namespace systole::passes
