// The square of the difference of two tensors, element by element.
#include "compiler/operators/squared_difference/squared_difference.h"

#include <algorithm>
#include <cmath>

#include "compiler/ir/encoding.h"
#include "compiler/operators/fixed_point.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/scaled_difference.h"

namespace systole::operators {
namespace {

/// The bits that the inputs are shifted to the left.
constexpr int headroom_of_squares = 7;

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
    int headroom_bits(const ir::NodeView& /*node*/) const override { return headroom_of_squares; }
    double result_scale(const ir::NodeView& /*node*/, double common_scale) const override {
        return std::ldexp(common_scale * common_scale, -2 * headroom_of_squares);
    }
};

}  // namespace

PairScaling squared_difference_scaling(const ir::NodeView& node) {
    const double a = encoding_of(node.input(0)).scale;
    const double b = encoding_of(node.input(1)).scale;
    const double common = 2 * std::max(a, b);
    return {.a = fixed_point_of(a / common),
            .b = fixed_point_of(b / common),
            .result = fixed_point_of(std::ldexp(common * common, -2 * headroom_of_squares) /
                                     encoding_of(node.output()).scale)};
}

std::unique_ptr<ir::Operator> make_squared_difference() {
    return std::make_unique<SquaredDifference>();
}

}  // namespace systole::operators
