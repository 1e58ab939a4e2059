#include "compiler/passes/linear_operator.h"

#include "compiler/graph/operators/convolution.h"
#include "compiler/graph/operators/dense.h"
#include "compiler/graph/operators/depthwise_convolution.h"

namespace systole::passes {
namespace {

template <typename Kind>
std::optional<LinearOperator> as(graph::Operator& op) {
    auto* const linear = dynamic_cast<Kind*>(&op);
    if (linear == nullptr) return std::nullopt;
    return LinearOperator{&linear->weights, &linear->bias};
}

}  // namespace

std::optional<LinearOperator> as_linear(graph::Operator& op) {
    if (const auto linear = as<graph::Convolution>(op)) return linear;
    if (const auto linear = as<graph::DepthwiseConvolution>(op)) return linear;
    return as<graph::Dense>(op);
}

}  // namespace systole::passes
