// The cosine.
#include <cmath>

#include "compiler/operators/element_function.h"

namespace systole::operators {
namespace {

float cos_of(float x, const FunctionParameters& /*parameters*/) {
    return std::cos(x);
}

Word cos_words(const Word& x, const FunctionParameters& /*parameters*/) {
    return cosine(x);
}

}  // namespace

std::unique_ptr<ir::Operator> make_cos() {
    return std::make_unique<FunctionOperator>(FunctionDefinition{
        .name = "cos",
        .summary = "The cosine.",
        .apply = apply_to_all<cos_of>,
        .words = cos_words,
        .layers = {json_function_layer("cos"), onnx_function("cos", "Cos"), tflite_function("cos", "COS")},
        .functions = {{ir::Format::GraphJson, "cos"}}});
}

}  // namespace systole::operators
