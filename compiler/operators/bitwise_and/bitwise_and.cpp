// The bits that are 1 in both of two integers, element by element.
#include "compiler/operators/pair_function.h"

namespace systole::operators {
namespace {

std::int32_t bitwise_and_of(std::int32_t a, std::int32_t b) {
    return a & b;
}

}  // namespace

std::unique_ptr<ir::Operator> make_bitwise_and() {
    return std::make_unique<PairFunctionOperator>(
        PairDefinition{.name = "bitwise_and",
                       .summary = "The bits that are 1 in both of two integers, element by element.",
                       .integer_words = pair_of_words<WordOperation::And>,
                       .on_integers = apply_to_row<bitwise_and_of>,
                       .layers = {onnx_pair("bitwise_and", "BitwiseAnd")}});
}

}  // namespace systole::operators
