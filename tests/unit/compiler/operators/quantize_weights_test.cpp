#include "compiler/operators/quantize_weights.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "base/fixed_point.h"
#include "tests/support/graphs.h"
#include "tests/support/random_runs.h"

using namespace systole;
using ir::Encoding;
using operators::quantize_weights;
using operators::QuantizedWeights;

namespace {

/// The real value of one step of a channel's sum.
double step(const QuantizedWeights& quantized, const Encoding& input, std::size_t channel) {
    return input.scale * quantized.scales[channel];
}

}  // namespace

TEST_CASE("Weights and biases come back within half a step", "[compiler][operators]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(50); ++seed) {
        INFO("seed " << seed);
        tests::GraphParts parts(seed);
        const std::size_t channels = parts.number(1, 8);
        const std::size_t inputs = parts.number(1, 200);
        const std::vector<float> weights = parts.values(inputs * channels, -3.0F, 2.0F);
        const std::vector<float> bias = parts.values(channels, -10.0F, 10.0F);
        const Encoding input{0.02, static_cast<std::int32_t>(parts.number(0, 255))};
        const QuantizedWeights quantized = quantize_weights(weights, bias, input, {0.5, 100});
        CHECK(quantized.output.scale == 0.5);
        CHECK(quantized.output.zero_point == 100);
        for (std::size_t c = 0; c < channels; ++c) {
            const double scale = step(quantized, input, c) / input.scale;
            int largest = 0;
            for (std::size_t i = c; i < weights.size(); i += channels) {
                CHECK(std::abs(quantized.weights[i] * scale - weights[i]) <= scale * 0.5001);
                largest = std::max(largest, std::abs(int{quantized.weights[i]}));
            }
            CHECK(largest == 127);
            // The bias stands beside the sum of weights times (byte - zero point).
            const double real_bias = quantized.bias[c] * step(quantized, input, c);
            CHECK(std::abs(real_bias - bias[c]) <= step(quantized, input, c) * 0.5001 + 1e-6);
        }
    }
}

TEST_CASE("Channels are quantized as if each were alone", "[compiler][operators]") {
    // More channels than are quantized together, and inputs of different scales and zero points.
    for (std::uint32_t seed = 0; seed < tests::random_runs(10); ++seed) {
        INFO("seed " << seed);
        tests::GraphParts parts(seed);
        const std::size_t channels = parts.number(1, 1100);
        const std::vector<operators::WeightedInput> inputs{
            {{0.02, static_cast<std::int32_t>(parts.number(0, 255))}, parts.number(1, 20)},
            {{0.5, static_cast<std::int32_t>(parts.number(0, 255))}, parts.number(1, 20)}};
        const std::size_t elements = inputs[0].elements + inputs[1].elements;
        const std::vector<float> weights = parts.values(elements * channels, -3.0F, 2.0F);
        const std::vector<float> bias = parts.values(channels, -1e7F, 1e7F);
        const QuantizedWeights together = quantize_weights(weights, bias, inputs, {0.5, 100});
        for (std::size_t c = 0; c < channels; ++c) {
            std::vector<float> column;
            for (std::size_t i = c; i < weights.size(); i += channels) column.push_back(weights[i]);
            const QuantizedWeights alone =
                quantize_weights(column, std::span(bias).subspan(c, 1), inputs, {0.5, 100});
            CHECK(alone.scales.front() == together.scales[c]);
            CHECK(alone.bias.front() == together.bias[c]);
            bool equal = true;
            for (std::size_t i = 0; i < elements; ++i) {
                equal &= alone.weights[i] == together.weights[i * channels + c];
            }
            CHECK(equal);
        }
    }
}

TEST_CASE("Weights halfway between two integers are rounded away from zero", "[compiler][operators]") {
    const std::vector<float> weights{127.0F, 0.5F, -0.5F, 2.5F, -126.5F, 0.49999997F};
    const QuantizedWeights quantized =
        quantize_weights(weights, std::vector{0.0F}, Encoding{1.0, 0}, Encoding{1.0, 0});
    CHECK(quantized.scales.front() == 1.0);
    CHECK(quantized.weights == std::vector<std::int8_t>{127, 1, -1, 3, -127, 0});
}

TEST_CASE("A channel of zeros keeps its bias", "[compiler][operators]") {
    const Encoding input{0.01, 3};
    const QuantizedWeights quantized =
        quantize_weights(std::vector<float>(8, 0.0F), std::vector{2.5F, 0.0F}, input, {0.1, 0});
    CHECK(std::ranges::all_of(quantized.weights, [](std::int8_t weight) { return weight == 0; }));
    CHECK(quantized.bias[0] * step(quantized, input, 0) == Approx(2.5).margin(1e-6));
    CHECK(quantized.bias[1] == 0);
}

TEST_CASE("A bias far larger than the weights still fits 32 bits", "[compiler][operators]") {
    const Encoding input{0.004, 0};
    for (const float bias : {1e6F, -1e6F, 1e20F}) {
        const QuantizedWeights quantized =
            quantize_weights(std::vector{1e-6F, -1e-6F}, std::vector{bias}, input, {0.1, 0});
        CHECK(quantized.bias[0] * step(quantized, input, 0) == Approx(bias).epsilon(1e-6));
    }
}

TEST_CASE("No sum of a long row leaves 32 bits", "[compiler][operators]") {
    // All at the limit, the sum of 255 * 127 * n passes 2^31 - 1 between these two lengths.
    constexpr std::size_t fitting = 66311;
    constexpr std::size_t too_long = 66313;
    for (const std::size_t length : {fitting, too_long}) {
        const QuantizedWeights quantized =
            quantize_weights(std::vector<float>(length, 1.0F), std::vector{0.0F}, {0.01, 0}, {1.0, 0});
        std::int64_t sum = 0;
        for (const std::int8_t weight : quantized.weights) sum += 255 * std::int64_t{weight};
        CHECK(sum <= std::numeric_limits<std::int32_t>::max());
        CHECK(quantized.weights[0] == (length == fitting ? 127 : 64));
    }
}

TEST_CASE("An output far finer than the sums is coarsened rather than overflown", "[compiler][operators]") {
    const std::vector<float> weights(100, 1.0F);
    const Encoding input{1.0, 0};
    // Steps of the sum are 1/127: 2^8 times the output's scale may still be shifted, 2^20 times may not.
    const auto scale_of = [&](double output_scale) {
        return quantize_weights(weights, std::vector{0.0F}, input, {output_scale, 0}).output.scale;
    };
    const double fine = std::ldexp(1.0 / 127, -8);
    const double too_fine = std::ldexp(1.0 / 127, -20);
    CHECK(scale_of(fine) == fine);
    CHECK(scale_of(too_fine) > too_fine);
    const QuantizedWeights quantized = quantize_weights(weights, std::vector{0.0F}, input, {too_fine, 0});
    const std::int64_t largest_sum = std::int64_t{100} * 127 * 255;
    const std::int32_t shift = to_fixed_point(step(quantized, input, 0) / quantized.output.scale).shift;
    CHECK((largest_sum << std::max(shift, 0)) <= std::numeric_limits<std::int32_t>::max());
}
