// Whether the first number is at most the second, element by element.
#include "compiler/operators/pair_function.h"

namespace systole::operators {
namespace {

std::uint8_t less_or_equal_of_floats(float a, float b) {
    return a <= b ? 1 : 0;
}

std::uint8_t less_or_equal_of_integers(std::int32_t a, std::int32_t b) {
    return a <= b ? 1 : 0;
}

}  // namespace

std::unique_ptr<ir::Operator> make_less_or_equal() {
    return std::make_unique<PairFunctionOperator>(PairDefinition{
        .name = "less_or_equal",
        .summary = "Whether the first number is at most the second, element by element.",
        .words = pair_of_words<WordOperation::LessEqual>,
        .integer_words = negated_words<exchanged_words<WordOperation::LessInt>>,
        .floats_to_truth = apply_to_row<less_or_equal_of_floats>,
        .integers_to_truth = apply_to_row<less_or_equal_of_integers>,
        .layers = {onnx_pair("less_or_equal", "LessOrEqual"), tflite_pair("less_or_equal", "LESS_EQUAL")}});
}

}  // namespace systole::operators
