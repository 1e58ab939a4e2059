#pragma once

#include <vector>

#include "compiler/ir/graph.h"

namespace systole::operators {

/// What batch normalization computes, as a multiplication and an addition.
struct Affine {
    std::vector<float> scale;   ///< [channel]
    std::vector<float> offset;  ///< [channel]
};

/// Of a node of batch normalization.
Affine affine_of(const ir::NodeView& node);

}  // namespace systole::operators
