// The exponential function.
#include <cmath>

#include "compiler/operators/element_function.h"
#include "compiler/operators/tflite_functions.h"

namespace systole::operators {
namespace {

float exp_of(float x, const FunctionParameters& /*parameters*/) {
    return std::exp(x);
}

Word exp_words(const Word& x, const FunctionParameters& /*parameters*/) {
    return exp(x);
}

}  // namespace

std::unique_ptr<ir::Operator> make_exp() {
    return std::make_unique<FunctionOperator>(FunctionDefinition{
        .name = "exp",
        .summary = "The exponential function.",
        .apply = apply_to_all<exp_of>,
        .words = exp_words,
        .layers = {json_function_layer("exp"), onnx_function("exp", "Exp"),
                   tflite_function_layer("exp", "EXP", std::exp)},
        .functions = {{ir::Format::Keras, "exponential"}, {ir::Format::GraphJson, "exp"}}});
}

}  // namespace systole::operators
