// An approximation of GELU: x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))).
#include <cmath>

#include "compiler/operators/element_function.h"

namespace systole::operators {
namespace {

float gelu_tanh_of(float x, const FunctionParameters& /*parameters*/) {
    constexpr float factor = 0.79788456F;  // sqrt(2 / pi)
    constexpr float cubic = 0.044715F;
    return 0.5F * x * (1.0F + std::tanh(factor * (x + cubic * x * x * x)));
}

Word gelu_tanh_words(const Word& x, const FunctionParameters& /*parameters*/) {
    constexpr float factor = 0.79788456F;  // sqrt(2 / pi)
    constexpr float cubic = 0.044715F;
    return 0.5F * x * (1.0F + tanh(factor * (x + cubic * x * x * x)));
}

}  // namespace

std::unique_ptr<ir::Operator> make_gelu_tanh() {
    return std::make_unique<FunctionOperator>(FunctionDefinition{
        .name = "gelu_tanh",
        .summary = "An approximation of GELU: x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))).",
        .apply = apply_to_all<gelu_tanh_of>,
        .words = gelu_tanh_words,
        .layers = {json_function_layer("gelu_tanh")},
        .functions = {{ir::Format::GraphJson, "gelu_tanh"}}});
}

}  // namespace systole::operators
