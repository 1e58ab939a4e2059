// The next integer that is not above x.
#include <cmath>

#include "compiler/operators/element_function.h"

namespace systole::operators {
namespace {

float floor_of(float x, const FunctionParameters& /*parameters*/) {
    return std::floor(x);
}

Word floor_words(const Word& x, const FunctionParameters& /*parameters*/) {
    return floor(x);
}

}  // namespace

std::unique_ptr<ir::Operator> make_floor() {
    return std::make_unique<FunctionOperator>(
        FunctionDefinition{.name = "floor",
                           .summary = "The next integer that is not above x.",
                           .apply = apply_to_all<floor_of>,
                           .words = floor_words,
                           .layers = {json_function_layer("floor"), onnx_function("floor", "Floor"),
                                      tflite_function("floor", "FLOOR")},
                           .functions = {{ir::Format::GraphJson, "floor"}}});
}

}  // namespace systole::operators
