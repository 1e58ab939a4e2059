// The natural logarithm.
#include <cmath>

#include "compiler/operators/element_function.h"
#include "compiler/operators/tflite_functions.h"

namespace systole::operators {
namespace {

float log_of(float x, const FunctionParameters& /*parameters*/) {
    return std::log(x);
}

Word log_words(const Word& x, const FunctionParameters& /*parameters*/) {
    return log(x);
}

}  // namespace

std::unique_ptr<ir::Operator> make_log() {
    return std::make_unique<FunctionOperator>(
        FunctionDefinition{.name = "log",
                           .summary = "The natural logarithm.",
                           .apply = apply_to_all<log_of>,
                           .words = log_words,
                           .layers = {json_function_layer("log"), onnx_function("log", "Log"), tflite_log()},
                           .functions = {{ir::Format::GraphJson, "log"}}});
}

}  // namespace systole::operators
