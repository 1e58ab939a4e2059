// The smaller of two numbers, element by element.
#include "compiler/operators/pair_function.h"

namespace systole::operators {
namespace {

float minimum_of_floats(float a, float b) {
    return a < b ? a : b;
}

std::int32_t minimum_of_integers(std::int32_t a, std::int32_t b) {
    return a < b ? a : b;
}

}  // namespace

std::unique_ptr<ir::Operator> make_minimum() {
    return std::make_unique<PairFunctionOperator>(
        PairDefinition{.name = "minimum",
                       .summary = "The smaller of two numbers, element by element.",
                       .on_floats = apply_to_row<minimum_of_floats>,
                       .words = pair_of_words<WordOperation::Minimum>,
                       .integer_words = pair_of_words<WordOperation::MinimumInt>,
                       .on_integers = apply_to_row<minimum_of_integers>,
                       .works_on_stored = true,
                       .layers = {onnx_chain("minimum", "Min"), tflite_pair("minimum", "MINIMUM"),
                                  keras_chain("minimum", "Minimum")}});
}

}  // namespace systole::operators
