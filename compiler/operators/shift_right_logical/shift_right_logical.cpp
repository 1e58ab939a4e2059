// The bits of an integer moved to the right, element by element; zeros move in.
#include "compiler/operators/pair_function.h"

namespace systole::operators {
namespace {

std::int32_t shift_right_logical_of(std::int32_t a, std::int32_t b) {
    constexpr std::uint32_t width = 32;
    const auto places = static_cast<std::uint32_t>(b);
    return places < width ? static_cast<std::int32_t>(static_cast<std::uint32_t>(a) >> places) : 0;
}

}  // namespace

std::unique_ptr<ir::Operator> make_shift_right_logical() {
    return std::make_unique<PairFunctionOperator>(PairDefinition{
        .name = "shift_right_logical",
        .summary = "The bits of an integer moved to the right, element by element; zeros move in.",
        .integer_words = pair_of_words<WordOperation::ShiftRight>,
        .on_integers = apply_to_row<shift_right_logical_of>});
}

}  // namespace systole::operators
