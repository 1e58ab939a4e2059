#pragma once

#include "compiler/ir/graph.h"
#include "compiler/operators/pairwise.h"

namespace systole::operators {

/// The factors of the square of a difference of two quantized numbers of bytes, by TFLite's rule.
PairScaling squared_difference_scaling(const ir::NodeView& node);

}  // namespace systole::operators
