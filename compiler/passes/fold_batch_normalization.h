#pragma once

#include "compiler/ir/graph.h"

namespace systole::passes {

/// Removes batch normalizations. Each becomes part of the weights and bias of the convolution or dense layer
/// before it, if it is the layer's only reader; otherwise it becomes a 1x1 depthwise convolution.
ir::Graph fold_batch_normalization(ir::Graph graph);

}  // namespace systole::passes
