// x * x.
#include "compiler/operators/element_function.h"

namespace systole::operators {
namespace {

float square_of(float x, const FunctionParameters& /*parameters*/) {
    return x * x;
}

Word square_words(const Word& x, const FunctionParameters& /*parameters*/) {
    return x * x;
}

}  // namespace

std::unique_ptr<ir::Operator> make_square() {
    return std::make_unique<FunctionOperator>(
        FunctionDefinition{.name = "square",
                           .summary = "x * x.",
                           .apply = apply_to_all<square_of>,
                           .words = square_words,
                           .layers = {json_function_layer("square"), tflite_function("square", "SQUARE")},
                           .functions = {{ir::Format::GraphJson, "square"}}});
}

}  // namespace systole::operators
