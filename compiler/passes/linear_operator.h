#pragma once

#include <optional>
#include <vector>

#include "compiler/graph/graph.h"

namespace systole::passes {

/// What convolutions, depthwise convolutions and dense layers have in common: the output channel is the
/// fastest dimension of the weights.
struct LinearOperator {
    std::vector<float>* weights = nullptr;
    std::vector<float>* bias = nullptr;  ///< [output channel], or empty
};

/// The weights of an operator that is one of the three.
std::optional<LinearOperator> as_linear(graph::Operator& op);

}  // namespace systole::passes
