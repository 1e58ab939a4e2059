// 1 / (1 + exp(-x)).
#include <cmath>

#include "compiler/operators/element_function.h"
#include "compiler/operators/tflite_functions.h"

namespace systole::operators {
namespace {

float sigmoid_of(float x, const FunctionParameters& /*parameters*/) {
    return 1.0F / (1.0F + std::exp(-x));
}

Word sigmoid_words(const Word& x, const FunctionParameters& /*parameters*/) {
    return logistic(x);
}

}  // namespace

std::unique_ptr<ir::Operator> make_sigmoid() {
    return std::make_unique<FunctionOperator>(FunctionDefinition{
        .name = "sigmoid",
        .summary = "1 / (1 + exp(-x)).",
        .apply = apply_to_all<sigmoid_of>,
        .words = sigmoid_words,
        .layers = {json_function_layer("sigmoid"), onnx_function("sigmoid", "Sigmoid"),
                   tflite_sigmoid_layer("sigmoid", "LOGISTIC",
                                        [](float x) { return 1.0F / (1.0F + std::exp(-x)); })},
        .functions = {{ir::Format::GraphJson, "sigmoid"}, {ir::Format::Keras, "sigmoid"}}});
}

}  // namespace systole::operators
