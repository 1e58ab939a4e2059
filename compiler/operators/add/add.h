#pragma once

#include "compiler/operators/pairwise.h"

namespace systole::operators {

/// Of a sum of quantized numbers, with TFLite's rule: inputs are shifted to the left, by 20 bits or by 15 if
/// they have 16, and scaled by `a` and `b` to twice the larger scale; `result` scales their sum.
PairScaling sum_scaling(const ir::NodeView& node);

}  // namespace systole::operators
