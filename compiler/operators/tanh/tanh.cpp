// The hyperbolic tangent.
#include <cmath>

#include "compiler/operators/element_function.h"
#include "compiler/operators/tflite_functions.h"

namespace systole::operators {
namespace {

float tanh_of(float x, const FunctionParameters& /*parameters*/) {
    return std::tanh(x);
}

Word tanh_words(const Word& x, const FunctionParameters& /*parameters*/) {
    return tanh(x);
}

}  // namespace

std::unique_ptr<ir::Operator> make_tanh() {
    return std::make_unique<FunctionOperator>(FunctionDefinition{
        .name = "tanh",
        .summary = "The hyperbolic tangent.",
        .apply = apply_to_all<tanh_of>,
        .words = tanh_words,
        .layers = {json_function_layer("tanh"), onnx_function("tanh", "Tanh"),
                   tflite_sigmoid_layer("tanh", "TANH", [](float x) { return std::tanh(x); })},
        .functions = {{ir::Format::GraphJson, "tanh"}, {ir::Format::Keras, "tanh"}}});
}

}  // namespace systole::operators
