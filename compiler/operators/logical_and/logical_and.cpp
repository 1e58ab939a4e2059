// Whether both truth values are true, element by element.
#include "compiler/operators/pair_function.h"

namespace systole::operators {
namespace {

std::uint8_t logical_and_of_integers(std::int32_t a, std::int32_t b) {
    return a != 0 && b != 0 ? 1 : 0;
}

/// `b` counts where `a` is true.
Word logical_and_of_words(const Word& a, const Word& b) {
    const Word no = constant_word(a.steps(), 0);
    return select(a, select(b, constant_word(a.steps(), 1), no), no);
}

}  // namespace

std::unique_ptr<ir::Operator> make_logical_and() {
    return std::make_unique<PairFunctionOperator>(PairDefinition{
        .name = "logical_and",
        .summary = "Whether both truth values are true, element by element.",
        .integer_words = logical_and_of_words,
        .integers_to_truth = apply_to_row<logical_and_of_integers>,
        .layers = {onnx_pair("logical_and", "And"), tflite_pair("logical_and", "LOGICAL_AND")}});
}

}  // namespace systole::operators
