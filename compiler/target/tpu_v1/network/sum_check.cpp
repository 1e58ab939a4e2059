#include "compiler/target/tpu_v1/network/sum_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <variant>
#include <vector>

#include "base/wrapped_sum.h"
#include "compiler/ir/model_error.h"

namespace systole::tpu_v1 {
namespace {

/// The least and the largest sum of a layer.
struct SumRange {
    std::int64_t least = 0;
    std::int64_t largest = 0;
};

template <class Weight>
SumRange range_of(std::span<const Weight> weights, std::int64_t zero_point, std::size_t channels,
                  DataType input) {
    std::vector<SumRange> sums(channels);
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const std::int64_t weight = std::int64_t{weights[i]} - zero_point;
        const auto [least, largest] = std::minmax({weight * lowest_of(input), weight * highest_of(input)});
        sums[i % channels].least += least;
        sums[i % channels].largest += largest;
    }
    SumRange range;
    for (const SumRange& sum : sums) {
        range = {.least = std::min(range.least, sum.least), .largest = std::max(range.largest, sum.largest)};
    }
    return range;
}

SumRange range_of(const MatrixProduct& product, std::size_t channels, DataType input) {
    if (product.weight_type == DataType::Int16) {
        return range_of(product.weights.values<std::int16_t>(), product.weight_zero_point, channels, input);
    }
    return range_of(product.weights.values<std::int8_t>(), product.weight_zero_point, channels, input);
}

/// Of so many products of two bytes less their zero points, and of those with a zero point alone.
SumRange range_of_written(std::int64_t products) {
    constexpr std::int64_t largest = 255;
    return {.least = -2 * products * largest * largest, .largest = 2 * products * largest * largest};
}

}  // namespace

void check_sums(const Network& network, std::uint32_t sum_bits) {
    const std::int64_t most = std::int64_t{1} << (sum_bits - 1);
    for (const Layer& layer : network.layers) {
        const auto* const product = std::get_if<MatrixProduct>(&layer.work);
        if (product == nullptr || (!product->weights.is_known() && !writes_weights(*product))) continue;
        const Tensor& input = network.tensors[layer.inputs.front()];
        const SumRange range =
            writes_weights(*product)
                ? range_of_written(input.shape.channels)
                : range_of(*product, network.tensors[layer.output].shape.channels, input.type);
        if (range.least >= -most && range.largest < most) continue;
        throw ModelError(fmt::format(
            "{}: layer \"{}\": its sums may be from {} to {}; the machine's accumulators have {} bits, in "
            "which they would wrap around (accumulators.sum_bits)",
            network.name, layer.name, range.least, range.largest, sum_bits));
    }
}

}  // namespace systole::tpu_v1
