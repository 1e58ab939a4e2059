// The larger of two numbers, element by element.
#include "compiler/operators/pair_function.h"

namespace systole::operators {
namespace {

float maximum_of_floats(float a, float b) {
    return a > b ? a : b;
}

std::int32_t maximum_of_integers(std::int32_t a, std::int32_t b) {
    return a > b ? a : b;
}

}  // namespace

std::unique_ptr<ir::Operator> make_maximum() {
    return std::make_unique<PairFunctionOperator>(
        PairDefinition{.name = "maximum",
                       .summary = "The larger of two numbers, element by element.",
                       .on_floats = apply_to_row<maximum_of_floats>,
                       .words = pair_of_words<WordOperation::Maximum>,
                       .integer_words = pair_of_words<WordOperation::MaximumInt>,
                       .on_integers = apply_to_row<maximum_of_integers>,
                       .works_on_stored = true,
                       .layers = {onnx_chain("maximum", "Max"), tflite_pair("maximum", "MAXIMUM"),
                                  keras_chain("maximum", "Maximum")}});
}

}  // namespace systole::operators
