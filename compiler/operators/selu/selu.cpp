// The function of self-normalizing networks: exponential for x < 0, linear for x >= 0.
#include <cmath>

#include "compiler/operators/element_function.h"

namespace systole::operators {
namespace {

float selu_of(float x, const FunctionParameters& /*parameters*/) {
    constexpr float scale = 1.05070098F;  // the constants of self-normalizing networks
    constexpr float limit = 1.67326324F;
    return scale * (x >= 0.0F ? x : limit * std::expm1(x));
}

}  // namespace

std::unique_ptr<ir::Operator> make_selu() {
    return std::make_unique<FunctionOperator>(FunctionDefinition{
        .name = "selu",
        .summary = "The function of self-normalizing networks: exponential for x < 0, linear for x >= 0.",
        .apply = apply_to_all<selu_of>,
        .layers = {json_function_layer("selu")},
        .functions = {{ir::Format::GraphJson, "selu"}, {ir::Format::Keras, "selu"}}});
}

}  // namespace systole::operators
