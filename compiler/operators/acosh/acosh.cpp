// The inverse hyperbolic cosine.
#include <cmath>

#include "compiler/operators/element_function.h"

namespace systole::operators {
namespace {

float acosh_of(float x, const FunctionParameters& /*parameters*/) {
    return std::acosh(x);
}

/// ln(x + sqrt(x^2 - 1)), in a form that keeps the bits of numbers near 1. For large ones it is ln(2 x).
Word acosh_words(const Word& x, const FunctionParameters& /*parameters*/) {
    constexpr float large = 1e18F;
    constexpr float log_of_two = 0.69314718F;
    const Word above_one = x - 1.0F;
    const Word of_most = log1p(above_one + sqrt(above_one) * sqrt(x + 1.0F));
    return select(less(large, x), log(x) + log_of_two, of_most);
}

}  // namespace

std::unique_ptr<ir::Operator> make_acosh() {
    return std::make_unique<FunctionOperator>(
        FunctionDefinition{.name = "acosh",
                           .summary = "The inverse hyperbolic cosine.",
                           .apply = apply_to_all<acosh_of>,
                           .words = acosh_words,
                           .layers = {json_function_layer("acosh"), onnx_function("acosh", "Acosh")},
                           .functions = {{ir::Format::GraphJson, "acosh"}}});
}

}  // namespace systole::operators
