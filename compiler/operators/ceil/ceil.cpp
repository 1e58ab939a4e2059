// The next integer that is not below x.
#include <cmath>

#include "compiler/operators/element_function.h"

namespace systole::operators {
namespace {

float ceil_of(float x, const FunctionParameters& /*parameters*/) {
    return std::ceil(x);
}

Word ceil_words(const Word& x, const FunctionParameters& /*parameters*/) {
    return ceil(x);
}

}  // namespace

std::unique_ptr<ir::Operator> make_ceil() {
    return std::make_unique<FunctionOperator>(
        FunctionDefinition{.name = "ceil",
                           .summary = "The next integer that is not below x.",
                           .apply = apply_to_all<ceil_of>,
                           .words = ceil_words,
                           .layers = {json_function_layer("ceil"), onnx_function("ceil", "Ceil"),
                                      tflite_function("ceil", "CEIL")},
                           .functions = {{ir::Format::GraphJson, "ceil"}}});
}

}  // namespace systole::operators
