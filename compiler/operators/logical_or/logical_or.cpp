// Whether one of two truth values is true, element by element.
#include "compiler/operators/pair_function.h"

namespace systole::operators {
namespace {

std::uint8_t logical_or_of_integers(std::int32_t a, std::int32_t b) {
    return a != 0 || b != 0 ? 1 : 0;
}

Word logical_or_of_words(const Word& a, const Word& b) {
    const Word either = apply(WordOperation::Or, {a, b});
    return select(either, constant_word(a.steps(), 1), constant_word(a.steps(), 0));
}

}  // namespace

std::unique_ptr<ir::Operator> make_logical_or() {
    return std::make_unique<PairFunctionOperator>(
        PairDefinition{.name = "logical_or",
                       .summary = "Whether one of two truth values is true, element by element.",
                       .integer_words = logical_or_of_words,
                       .integers_to_truth = apply_to_row<logical_or_of_integers>,
                       .layers = {onnx_pair("logical_or", "Or"), tflite_pair("logical_or", "LOGICAL_OR")}});
}

}  // namespace systole::operators
