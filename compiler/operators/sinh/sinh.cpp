// The hyperbolic sine.
#include <cmath>

#include "compiler/operators/element_function.h"

namespace systole::operators {
namespace {

float sinh_of(float x, const FunctionParameters& /*parameters*/) {
    return std::sinh(x);
}

/// Small numbers would lose their bits in the difference of two powers. The square of exp(|x| / 2) overflows
/// only where the result does.
Word sinh_words(const Word& x, const FunctionParameters& /*parameters*/) {
    const Word size = absolute(x);
    const Word less_one = expm1(x);
    const Word of_small = 0.5F * (less_one + less_one / (less_one + 1.0F));
    const Word root = exp(0.5F * size);
    const Word of_large = 0.5F * root * root - 0.5F / (root * root);
    return select(less(size, 1.0F), of_small, select(less(x, 0.0F), -of_large, of_large));
}

}  // namespace

std::unique_ptr<ir::Operator> make_sinh() {
    return std::make_unique<FunctionOperator>(
        FunctionDefinition{.name = "sinh",
                           .summary = "The hyperbolic sine.",
                           .apply = apply_to_all<sinh_of>,
                           .words = sinh_words,
                           .layers = {json_function_layer("sinh"), onnx_function("sinh", "Sinh")},
                           .functions = {{ir::Format::GraphJson, "sinh"}}});
}

}  // namespace systole::operators
