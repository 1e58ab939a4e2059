// The inverse hyperbolic sine.
#include <cmath>

#include "compiler/operators/element_function.h"

namespace systole::operators {
namespace {

float asinh_of(float x, const FunctionParameters& /*parameters*/) {
    return std::asinh(x);
}

/// ln(a + sqrt(a^2 + 1)), with a the magnitude, in a form that keeps the bits of small numbers. For large
/// ones, whose squares overflow, it is ln(2 a).
Word asinh_words(const Word& x, const FunctionParameters& /*parameters*/) {
    constexpr float large = 1e18F;
    constexpr float log_of_two = 0.69314718F;
    const Word size = absolute(x);
    const Word square = size * size;
    const Word of_most = log1p(size + square / (1.0F + sqrt(square + 1.0F)));
    const Word result = select(less(large, size), log(size) + log_of_two, of_most);
    return select(less(0.0F, x), result, select(less(x, 0.0F), -result, x));
}

}  // namespace

std::unique_ptr<ir::Operator> make_asinh() {
    return std::make_unique<FunctionOperator>(
        FunctionDefinition{.name = "asinh",
                           .summary = "The inverse hyperbolic sine.",
                           .apply = apply_to_all<asinh_of>,
                           .words = asinh_words,
                           .layers = {json_function_layer("asinh"), onnx_function("asinh", "Asinh")},
                           .functions = {{ir::Format::GraphJson, "asinh"}}});
}

}  // namespace systole::operators
