// The bits that are 1 in one of two integers, or in both, element by element.
#include "compiler/operators/pair_function.h"

namespace systole::operators {
namespace {

std::int32_t bitwise_or_of(std::int32_t a, std::int32_t b) {
    return a | b;
}

}  // namespace

std::unique_ptr<ir::Operator> make_bitwise_or() {
    return std::make_unique<PairFunctionOperator>(PairDefinition{
        .name = "bitwise_or",
        .summary = "The bits that are 1 in one of two integers, or in both, element by element.",
        .integer_words = pair_of_words<WordOperation::Or>,
        .on_integers = apply_to_row<bitwise_or_of>,
        .layers = {onnx_pair("bitwise_or", "BitwiseOr")}});
}

}  // namespace systole::operators
