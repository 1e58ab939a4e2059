// Whether two numbers differ, element by element.
#include "compiler/operators/pair_function.h"

namespace systole::operators {
namespace {

std::uint8_t not_equal_of_floats(float a, float b) {
    return a != b ? 1 : 0;
}

std::uint8_t not_equal_of_integers(std::int32_t a, std::int32_t b) {
    return a != b ? 1 : 0;
}

}  // namespace

std::unique_ptr<ir::Operator> make_not_equal() {
    return std::make_unique<PairFunctionOperator>(
        PairDefinition{.name = "not_equal",
                       .summary = "Whether two numbers differ, element by element.",
                       .floats_to_truth = apply_to_row<not_equal_of_floats>,
                       .integers_to_truth = apply_to_row<not_equal_of_integers>,
                       .layers = {tflite_pair("not_equal", "NOT_EQUAL")}});
}

}  // namespace systole::operators
