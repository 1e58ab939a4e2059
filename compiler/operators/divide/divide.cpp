// The quotient of two numbers, element by element; of integers, rounded towards 0.
#include "compiler/ir/model_error.h"
#include "compiler/operators/pair_function.h"

namespace systole::operators {
namespace {

float divide_of_floats(float a, float b) {
    return a / b;
}

Word divide_of_words(const Word& a, const Word& b) {
    return a / b;
}

std::int32_t divide_of_integers(std::int32_t a, std::int32_t b) {
    if (b == 0) throw ModelError("it divides an integer by 0");
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(std::int64_t{a} / b));
}

}  // namespace

std::unique_ptr<ir::Operator> make_divide() {
    return std::make_unique<PairFunctionOperator>(PairDefinition{
        .name = "divide",
        .summary = "The quotient of two numbers, element by element; of integers, rounded towards 0.",
        .on_floats = apply_to_row<divide_of_floats>,
        .words = divide_of_words,
        .on_integers = apply_to_row<divide_of_integers>,
        .layers = {onnx_pair("divide", "Div")}});
}

}  // namespace systole::operators
