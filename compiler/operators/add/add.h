#pragma once

#include <array>

#include "compiler/operators/pairwise.h"

namespace systole::operators {

/// Of a sum of quantized numbers, with TFLite's rule: inputs are shifted to the left, by 20 bits or by 15 if
/// they have 16, and scaled by `a` and `b` to twice the larger scale; `result` scales their sum.
PairScaling sum_scaling(const ir::NodeView& node);

/// The multipliers of both inputs with the rounding float_half_even: the quotients of their scales and the
/// result's, as float32. The products with the inputs' differences to their zero points, and the sum of both,
/// are float32 numbers; the sum is rounded to the nearest integer, halves to the even number. How the Edge
/// TPU computes sums is not published; this is ours.
std::array<float, 2> float_sum_multipliers(const ir::NodeView& node);

}  // namespace systole::operators
