// The square root.
#include <cmath>

#include "compiler/operators/element_function.h"

namespace systole::operators {
namespace {

float sqrt_of(float x, const FunctionParameters& /*parameters*/) {
    return std::sqrt(x);
}

Word sqrt_words(const Word& x, const FunctionParameters& /*parameters*/) {
    return sqrt(x);
}

}  // namespace

std::unique_ptr<ir::Operator> make_sqrt() {
    return std::make_unique<FunctionOperator>(
        FunctionDefinition{.name = "sqrt",
                           .summary = "The square root.",
                           .apply = apply_to_all<sqrt_of>,
                           .words = sqrt_words,
                           .layers = {json_function_layer("sqrt"), onnx_function("sqrt", "Sqrt"),
                                      tflite_function("sqrt", "SQRT")},
                           .functions = {{ir::Format::GraphJson, "sqrt"}}});
}

}  // namespace systole::operators
