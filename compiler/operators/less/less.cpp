// Whether the first number is less than the second, element by element.
#include "compiler/operators/pair_function.h"

namespace systole::operators {
namespace {

std::uint8_t less_of_floats(float a, float b) {
    return a < b ? 1 : 0;
}

std::uint8_t less_of_integers(std::int32_t a, std::int32_t b) {
    return a < b ? 1 : 0;
}

}  // namespace

std::unique_ptr<ir::Operator> make_less() {
    return std::make_unique<PairFunctionOperator>(
        PairDefinition{.name = "less",
                       .summary = "Whether the first number is less than the second, element by element.",
                       .words = pair_of_words<WordOperation::Less>,
                       .integer_words = pair_of_words<WordOperation::LessInt>,
                       .floats_to_truth = apply_to_row<less_of_floats>,
                       .integers_to_truth = apply_to_row<less_of_integers>,
                       .layers = {onnx_pair("less", "Less"), tflite_pair("less", "LESS")}});
}

}  // namespace systole::operators
