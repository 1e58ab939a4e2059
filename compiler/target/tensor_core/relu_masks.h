#pragma once

#include "compiler/ir/graph.h"

namespace systole::tensor_core {

/// What asks whether a number is above 0 asks max(number, 0) instead, where a product reads that: it is there
/// until the gradient of the product's weights, so the number itself need not stay. Both answers are equal,
/// for a NaN and for both zeros, too.
ir::Graph with_masks_of_results(ir::Graph graph);

}  // namespace systole::tensor_core
