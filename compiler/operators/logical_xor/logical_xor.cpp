// Whether exactly one of two truth values is true, element by element.
#include "compiler/operators/pair_function.h"

namespace systole::operators {
namespace {

std::uint8_t logical_xor_of_integers(std::int32_t a, std::int32_t b) {
    return (a != 0) != (b != 0) ? 1 : 0;
}

Word logical_xor_of_words(const Word& a, const Word& b) {
    const Word yes = constant_word(a.steps(), 1);
    const Word no = constant_word(a.steps(), 0);
    return select(a, select(b, no, yes), select(b, yes, no));
}

}  // namespace

std::unique_ptr<ir::Operator> make_logical_xor() {
    return std::make_unique<PairFunctionOperator>(
        PairDefinition{.name = "logical_xor",
                       .summary = "Whether exactly one of two truth values is true, element by element.",
                       .integer_words = logical_xor_of_words,
                       .integers_to_truth = apply_to_row<logical_xor_of_integers>,
                       .layers = {onnx_pair("logical_xor", "Xor")}});
}

}  // namespace systole::operators
