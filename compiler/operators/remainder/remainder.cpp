// The remainder of the quotient that is rounded towards 0, element by element: it has the sign of the
// dividend.
#include <cmath>

#include "compiler/ir/model_error.h"
#include "compiler/operators/pair_function.h"

namespace systole::operators {
namespace {

float remainder_of_floats(float a, float b) {
    return std::fmod(a, b);
}

std::int32_t remainder_of_integers(std::int32_t a, std::int32_t b) {
    if (b == 0) throw ModelError("it divides an integer by 0");
    return static_cast<std::int32_t>(std::int64_t{a} % b);
}

Word remainder_of_words(const Word& a, const Word& b) {
    return remainder(a, b);
}

}  // namespace

std::unique_ptr<ir::Operator> make_remainder() {
    return std::make_unique<PairFunctionOperator>(
        PairDefinition{.name = "remainder",
                       .summary = "The remainder of the quotient that is rounded towards 0, element by "
                                  "element: it has the sign of the dividend.",
                       .on_floats = apply_to_row<remainder_of_floats>,
                       .words = remainder_of_words,
                       .on_integers = apply_to_row<remainder_of_integers>,
                       .layers = {}});
}

}  // namespace systole::operators
