#pragma once

#include "compiler/operators/pairwise.h"

namespace systole::operators {

/// Of a product of quantized numbers, which `result` scales.
PairScaling product_scaling(const ir::NodeView& node);

/// The multiplier with the rounding float_half_even: the quotient of scales as float32. The product of the
/// inputs' differences to their zero points is scaled as by `multiply_by_float_to_even`. How the Edge TPU
/// computes products is not published; this is ours.
float float_product_multiplier(const ir::NodeView& node);

}  // namespace systole::operators
