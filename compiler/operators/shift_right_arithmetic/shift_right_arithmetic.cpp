// The bits of an integer moved to the right, element by element; copies of its sign move in.
#include <algorithm>

#include "compiler/operators/pair_function.h"

namespace systole::operators {
namespace {

constexpr std::int32_t most_places = 31;

/// As TFLite's: a number of places beyond the ends is the nearest one inside.
std::int32_t shift_right_arithmetic_of(std::int32_t a, std::int32_t b) {
    return a >> std::clamp(b, 0, most_places);
}

Word shift_right_arithmetic_words(const Word& a, const Word& b) {
    const Word places = apply(WordOperation::MaximumInt, {b, constant_word(b.steps(), 0)});
    return apply(WordOperation::ShiftRightArithmetic, {a, places});
}

}  // namespace

std::unique_ptr<ir::Operator> make_shift_right_arithmetic() {
    return std::make_unique<PairFunctionOperator>(PairDefinition{
        .name = "shift_right_arithmetic",
        .summary =
            "The bits of an integer moved to the right, element by element; copies of its sign move in.",
        .integer_words = shift_right_arithmetic_words,
        .on_integers = apply_to_row<shift_right_arithmetic_of>,
        .layers = {tflite_pair("shift_right_arithmetic", "RIGHT_SHIFT")}});
}

}  // namespace systole::operators
