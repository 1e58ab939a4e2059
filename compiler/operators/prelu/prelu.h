#pragma once

#include "base/fixed_point.h"
#include "compiler/ir/graph.h"

namespace systole::operators {

/// Of quantized numbers: the factors of x from 0 on, and of the products of x and its slope below.
struct PreluScaling {
    FixedPoint above, below;
};
PreluScaling prelu_scaling(const ir::NodeView& node);

}  // namespace systole::operators
