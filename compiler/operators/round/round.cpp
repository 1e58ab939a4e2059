// The nearest integer; of two, the even one.
#include <cmath>

#include "compiler/operators/element_function.h"

namespace systole::operators {
namespace {

float round_of(float x, const FunctionParameters& /*parameters*/) {
    // nearbyint rounds halves to even, as nothing here changes the rounding mode.
    return std::nearbyint(x);
}

Word round_words(const Word& x, const FunctionParameters& /*parameters*/) {
    return round_to_even(x);
}

}  // namespace

std::unique_ptr<ir::Operator> make_round() {
    return std::make_unique<FunctionOperator>(
        FunctionDefinition{.name = "round",
                           .summary = "The nearest integer; of two, the even one.",
                           .apply = apply_to_all<round_of>,
                           .words = round_words,
                           .layers = {json_function_layer("round"), onnx_function("round", "Round"),
                                      tflite_function("round", "ROUND")},
                           .functions = {{ir::Format::GraphJson, "round"}}});
}

}  // namespace systole::operators
