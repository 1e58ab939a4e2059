#include "compiler/operators/scaled_difference.h"

#include <algorithm>

#include "compiler/ir/encoding.h"
#include "compiler/operators/fixed_point.h"
#include "compiler/operators/integer_types.h"

namespace systole::operators {
namespace {

double twice_the_larger_scale(const ir::NodeView& node) {
    return 2 * std::max(encoding_of(node.input(0)).scale, encoding_of(node.input(1)).scale);
}

}  // namespace

void ScaledDifference::scale_input(const ir::NodeView& node, std::size_t index,
                                   std::span<std::int32_t> numbers) const {
    const ir::Encoding encoding = encoding_of(node.input(index));
    const FixedPoint factor = fixed_point_of(encoding.scale / twice_the_larger_scale(node));
    const std::int32_t headroom = 1 << headroom_bits(node);
    for (std::int32_t& number : numbers) {
        number = scale((number - encoding.zero_point) * headroom, factor.multiplier, factor.shift);
    }
}

void ScaledDifference::scale_result(const ir::NodeView& node, std::span<std::int32_t> numbers) const {
    const ir::Encoding result = encoding_of(node.output());
    const FixedPoint factor = fixed_point_of(result_scale(node, twice_the_larger_scale(node)) / result.scale);
    const Clamp clamp = clamps() ? clamp_of(node) : Clamp{lowest_of(result.type), highest_of(result.type)};
    for (std::int32_t& number : numbers) {
        number = offset_and_clamp(scale(number, factor.multiplier, factor.shift), result.zero_point,
                                  clamp.minimum, clamp.maximum);
    }
}

}  // namespace systole::operators
