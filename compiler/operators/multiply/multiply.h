#pragma once

#include "compiler/operators/pairwise.h"

namespace systole::operators {

/// Of a product of quantized numbers, which `result` scales.
PairScaling product_scaling(const ir::NodeView& node);

}  // namespace systole::operators
