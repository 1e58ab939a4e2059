#pragma once

#include "compiler/ir/graph.h"

namespace systole::passes {

/// Removes batch normalizations: each becomes part of the weights and the bias of the convolution or
/// dense layer before it, or, where there is none that it alone reads, a depthwise convolution of single
/// pixels.
ir::Graph fold_batch_normalization(ir::Graph graph);

}  // namespace systole::passes
