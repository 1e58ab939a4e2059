#include "compiler/operators/scaled_sum.h"

#include <algorithm>
#include <bit>

#include "compiler/ir/encoding.h"
#include "compiler/operators/fixed_point.h"
#include "compiler/operators/integer_types.h"

namespace systole::operators {

BiasedSum biased_sum(const ir::NodeView& node) {
    const ir::Encoding input = encoding_of(node.input());
    const float factor =
        static_cast<float>(input.scale) / static_cast<float>(encoding_of(node.output()).scale);
    const auto count = static_cast<float>(reduced_elements(node));
    return {.factor = factor, .bias = static_cast<float>(-input.zero_point) * factor * count};
}

float sum_floats(float sum, float x) {
    return sum + x;
}

std::int32_t sum_integers(std::int32_t sum, std::int32_t x) {
    return wrapping_add(sum, x);
}

FixedPoint sum_factor(const ir::NodeView& node, bool is_mean) {
    FixedPoint factor = fixed_point_of(encoding_of(node.input()).scale / encoding_of(node.output()).scale);
    if (!is_mean) return factor;
    // The multiplier is divided by the number of elements, after a shift that keeps its bits.
    const auto count = std::max<std::int64_t>(1, static_cast<std::int64_t>(reduced_elements(node)));
    const int shift = std::min(
        {static_cast<int>(std::bit_width(static_cast<std::uint64_t>(count))) - 1, 32, 31 + factor.shift});
    factor.multiplier = static_cast<std::int32_t>((std::int64_t{factor.multiplier} << shift) / count);
    factor.shift -= shift;
    return factor;
}

std::int32_t ScaledSum::finish_quantized(const ir::NodeView& node, std::int32_t sum) const {
    const ir::Encoding result = encoding_of(node.output());
    const FixedPoint factor = sum_factor(node, is_mean_);
    return offset_and_clamp(scale(sum, factor.multiplier, factor.shift), result.zero_point,
                            lowest_of(result.type), highest_of(result.type));
}

}  // namespace systole::operators
