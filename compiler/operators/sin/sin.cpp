// The sine.
#include <cmath>

#include "compiler/operators/element_function.h"

namespace systole::operators {
namespace {

float sin_of(float x, const FunctionParameters& /*parameters*/) {
    return std::sin(x);
}

Word sin_words(const Word& x, const FunctionParameters& /*parameters*/) {
    return sine(x);
}

}  // namespace

std::unique_ptr<ir::Operator> make_sin() {
    return std::make_unique<FunctionOperator>(FunctionDefinition{
        .name = "sin",
        .summary = "The sine.",
        .apply = apply_to_all<sin_of>,
        .words = sin_words,
        .layers = {json_function_layer("sin"), onnx_function("sin", "Sin"), tflite_function("sin", "SIN")},
        .functions = {{ir::Format::GraphJson, "sin"}}});
}

}  // namespace systole::operators
