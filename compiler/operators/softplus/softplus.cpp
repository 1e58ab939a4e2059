// log(1 + exp(x)).
#include <algorithm>
#include <cmath>

#include "compiler/operators/element_function.h"

namespace systole::operators {
namespace {

float softplus_of(float x, const FunctionParameters& /*parameters*/) {
    return std::max(x, 0.0F) + std::log1p(std::exp(-std::abs(x)));
}

Word softplus_words(const Word& x, const FunctionParameters& /*parameters*/) {
    return maximum(x, 0.0F) + log1p(exp(-absolute(x)));
}

}  // namespace

std::unique_ptr<ir::Operator> make_softplus() {
    return std::make_unique<FunctionOperator>(FunctionDefinition{
        .name = "softplus",
        .summary = "log(1 + exp(x)).",
        .apply = apply_to_all<softplus_of>,
        .words = softplus_words,
        .layers = {json_function_layer("softplus"), onnx_function("softplus", "Softplus")},
        .functions = {{ir::Format::GraphJson, "softplus"}, {ir::Format::Keras, "softplus"}}});
}

}  // namespace systole::operators
