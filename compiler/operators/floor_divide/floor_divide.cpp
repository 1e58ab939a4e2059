// The quotient of two numbers, rounded down, element by element.
#include <cmath>

#include "compiler/ir/model_error.h"
#include "compiler/operators/pair_function.h"

namespace systole::operators {
namespace {

float floor_divide_of_floats(float a, float b) {
    return std::floor(a / b);
}

Word floor_divide_of_words(const Word& a, const Word& b) {
    return floor(a / b);
}

std::int32_t floor_divide_of_integers(std::int32_t a, std::int32_t b) {
    if (b == 0) throw ModelError("it divides an integer by 0");
    const std::int64_t quotient = std::int64_t{a} / b;
    const bool is_exact = std::int64_t{a} % b == 0;
    return static_cast<std::int32_t>(
        static_cast<std::uint32_t>(quotient - (!is_exact && (a < 0) != (b < 0) ? 1 : 0)));
}

}  // namespace

std::unique_ptr<ir::Operator> make_floor_divide() {
    return std::make_unique<PairFunctionOperator>(
        PairDefinition{.name = "floor_divide",
                       .summary = "The quotient of two numbers, rounded down, element by element.",
                       .on_floats = apply_to_row<floor_divide_of_floats>,
                       .words = floor_divide_of_words,
                       .on_integers = apply_to_row<floor_divide_of_integers>,
                       .layers = {tflite_pair("floor_divide", "FLOOR_DIV")}});
}

}  // namespace systole::operators
