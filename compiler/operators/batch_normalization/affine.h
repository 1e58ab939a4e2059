#pragma once

#include <vector>

#include "compiler/ir/graph.h"

namespace systole::operators {

/// Batch normalization as a multiplication and an addition.
struct Affine {
    std::vector<float> scale;   ///< [channel]
    std::vector<float> offset;  ///< [channel]
};

/// The factors of a node of batch normalization.
Affine affine_of(const ir::NodeView& node);

}  // namespace systole::operators
