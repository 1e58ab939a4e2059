// The square of the difference of two tensors, element by element.
#include <cmath>

#include "compiler/operators/scaled_difference.h"

namespace systole::operators {
namespace {

float squared_difference_of_floats(float a, float b) {
    return (a - b) * (a - b);
}

Word squared_difference_of_words(const Word& a, const Word& b) {
    return (a - b) * (a - b);
}

std::int32_t squared_difference_of_integers(std::int32_t a, std::int32_t b) {
    const std::int32_t difference = wrapping_subtract(a, b);
    return wrapping_multiply(difference, difference);
}

class SquaredDifference final : public ScaledDifference {
public:
    SquaredDifference()
        : ScaledDifference(
              PairDefinition{.name = "squared_difference",
                             .summary = "The square of the difference of two tensors, element by element.",
                             .on_floats = apply_to_row<squared_difference_of_floats>,
                             .words = squared_difference_of_words,
                             .on_integers = apply_to_row<squared_difference_of_integers>,
                             .layers = {tflite_pair("squared_difference", "SQUARED_DIFFERENCE")}}) {}

protected:
    bool works_on_quantized(const ir::NodeView& node) const override {
        return node.input().type == DataType::Int8;
    }
    int headroom_bits(const ir::NodeView& /*node*/) const override { return 7; }
    double result_scale(const ir::NodeView& node, double common_scale) const override {
        return std::ldexp(common_scale * common_scale, -2 * headroom_bits(node));
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_squared_difference() {
    return std::make_unique<SquaredDifference>();
}

}  // namespace systole::operators
