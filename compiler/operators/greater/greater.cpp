// Whether the first number is greater than the second, element by element.
#include "compiler/operators/pair_function.h"

namespace systole::operators {
namespace {

std::uint8_t greater_of_floats(float a, float b) {
    return a > b ? 1 : 0;
}

std::uint8_t greater_of_integers(std::int32_t a, std::int32_t b) {
    return a > b ? 1 : 0;
}

}  // namespace

std::unique_ptr<ir::Operator> make_greater() {
    return std::make_unique<PairFunctionOperator>(
        PairDefinition{.name = "greater",
                       .summary = "Whether the first number is greater than the second, element by element.",
                       .words = exchanged_words<WordOperation::Less>,
                       .integer_words = exchanged_words<WordOperation::LessInt>,
                       .floats_to_truth = apply_to_row<greater_of_floats>,
                       .integers_to_truth = apply_to_row<greater_of_integers>,
                       .layers = {onnx_pair("greater", "Greater"), tflite_pair("greater", "GREATER")}});
}

}  // namespace systole::operators
