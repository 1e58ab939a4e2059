// x * tanh(log(1 + exp(x))).
#include <algorithm>
#include <cmath>

#include "compiler/operators/element_function.h"

namespace systole::operators {
namespace {

float mish_of(float x, const FunctionParameters& /*parameters*/) {
    const float softplus = std::max(x, 0.0F) + std::log1p(std::exp(-std::abs(x)));
    return x * std::tanh(softplus);
}

Word mish_words(const Word& x, const FunctionParameters& /*parameters*/) {
    return x * tanh(maximum(x, 0.0F) + log1p(exp(-absolute(x))));
}

}  // namespace

std::unique_ptr<ir::Operator> make_mish() {
    return std::make_unique<FunctionOperator>(
        FunctionDefinition{.name = "mish",
                           .summary = "x * tanh(log(1 + exp(x))).",
                           .apply = apply_to_all<mish_of>,
                           .words = mish_words,
                           .layers = {json_function_layer("mish"), onnx_function("mish", "Mish")},
                           .functions = {{ir::Format::Keras, "mish"}, {ir::Format::GraphJson, "mish"}}});
}

}  // namespace systole::operators
