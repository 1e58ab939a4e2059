#include "compiler/reference/integer_executor.h"

#include <catch2/catch.hpp>
#include <limits>
#include <random>
#include <stdexcept>

#include "compiler/reference/fixed_point.h"
#include "hw/math/fixed_point.h"

namespace systole::reference {
namespace {

using quantized::Network;
using quantized::Operation;
using quantized::Tensor;

constexpr std::int32_t one = 1 << 30;  ///< with a shift of 1, the multiplier 1

/// Passes sums on as they are, for each channel.
quantized::Requantization unchanged(std::uint32_t channels) {
    quantized::Requantization rules;
    rules.bias.assign(channels, 0);
    rules.multiplier.assign(channels, one);
    rules.shift.assign(channels, 1);
    return rules;
}

Network single_layer(const Tensor& input, const Tensor& output, Operation operation) {
    Network network;
    network.tensors = {input, output};
    network.layers = {{.name = "layer", .inputs = {0}, .output = 1, .operation = std::move(operation)}};
    network.output = 1;
    return network;
}

}  // namespace

TEST_CASE("A convolution adds up its windows in height, width, channel order", "[compiler][reference]") {
    quantized::Convolution convolution;
    convolution.window = {.kernel_height = 2, .kernel_width = 2};
    // Two filters: the first gives each of the 8 window elements a digit's weight, the second none.
    convolution.weights = {1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 0};
    convolution.requantization = unchanged(2);
    convolution.requantization.bias = {0, 9};
    const Network network =
        single_layer({.name = "in", .shape = {2, 3, 2}}, {.name = "out", .shape = {1, 2, 2}}, convolution);
    // Pixels (1,0) (0,1) (0,0) / (0,0) (0,2) (3,0)
    const std::vector<std::uint8_t> input = {1, 0, 0, 1, 0, 0, 0, 0, 0, 2, 3, 0};
    // Left: 1*1 + 1*4 + 2*8 = 21; right: 1*2 + 2*6 + 3*7 = 35.
    CHECK(execute(network, input, 1) == TensorBytes{21, 9, 35, 9});
}

TEST_CASE("Outside the image a convolution sees the zero point", "[compiler][reference]") {
    quantized::Convolution convolution;
    convolution.window = {.kernel_height = 3,
                          .kernel_width = 1,
                          .stride_y = 2,
                          .stride_x = 1,
                          .pad_top = 1,
                          .pad_left = 0,
                          .pad_bottom = 2};
    convolution.weights = {1, 10, 100};
    convolution.requantization = unchanged(1);
    const bool is_signed = GENERATE(false, true);
    convolution.requantization.shift = {-1};  // a quarter
    convolution.requantization.minimum = -128;
    const std::int32_t zero_point = is_signed ? -2 : 2;
    const Network network =
        single_layer({.name = "in", .shape = {2, 1, 1}, .zero_point = zero_point, .is_signed = is_signed},
                     {.name = "out", .shape = {2, 1, 1}, .is_signed = is_signed}, convolution);
    // Windows: zero point, 1, 3 and 3, zero point, zero point.
    const std::int32_t first = (zero_point + 10 + 300 + 2) / 4;
    const std::int32_t second_sum = 3 + 110 * zero_point;
    const std::int32_t second = second_sum >= 0 ? (second_sum + 2) / 4 : (second_sum - 2) / 4;
    CHECK(execute(network, std::vector<std::uint8_t>{1, 3}, 1) ==
          TensorBytes{static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(second)});
}

TEST_CASE("A depthwise convolution keeps channels apart", "[compiler][reference]") {
    quantized::DepthwiseConvolution convolution;
    convolution.window = {.kernel_height = 1, .kernel_width = 2};
    convolution.channel_multiplier = 2;
    convolution.weights = {1, 2, 3, 4, 5, 6, 7, 8};
    convolution.requantization = unchanged(4);
    const Network network =
        single_layer({.name = "in", .shape = {1, 2, 2}}, {.name = "out", .shape = {1, 1, 4}}, convolution);
    // Channel 0 is 1, 10; channel 1 is 2, 20.
    CHECK(execute(network, std::vector<std::uint8_t>{1, 2, 10, 20}, 1) ==
          TensorBytes{1 + 50, 2 + 60, 6 + 140, 8 + 160});
}

TEST_CASE("A dense layer flattens its input, image by image", "[compiler][reference]") {
    quantized::Dense dense;
    dense.weights = {1, -1, 2, 0, 3, 1};
    dense.requantization = unchanged(2);
    dense.requantization.zero_point = 100;
    const Network network =
        single_layer({.name = "in", .shape = {1, 3, 1}}, {.name = "out", .shape = {1, 1, 2}}, dense);
    const std::vector<std::uint8_t> input = {1, 2, 3, 10, 0, 1};
    CHECK(execute(network, input, 2) == TensorBytes{114, 102, 113, 91});
}

TEST_CASE("Results are clamped, then looked up", "[compiler][reference]") {
    quantized::Dense dense;
    dense.weights = {1, -1};
    dense.requantization = unchanged(2);
    dense.requantization.minimum = -3;
    dense.requantization.maximum = 20;
    std::array<std::uint8_t, 256> table{};
    table[20] = 1;
    table[253] = 2;
    if (GENERATE(false, true)) dense.requantization.table = table;
    const Network network = single_layer({.name = "in", .shape = {1, 1, 1}},
                                         {.name = "out", .shape = {1, 1, 2}, .is_signed = true}, dense);
    const TensorBytes expected = dense.requantization.table ? TensorBytes{1, 2} : TensorBytes{20, 253};
    CHECK(execute(network, std::vector<std::uint8_t>{200}, 1) == expected);
}

TEST_CASE("Pooling takes the largest or the rounded mean", "[compiler][reference]") {
    const bool is_signed = GENERATE(false, true);
    quantized::Pool pool;
    pool.window = {.kernel_height = 1, .kernel_width = 2, .stride_y = 1, .stride_x = 2};
    const auto run = [&](quantized::PoolKind kind) {
        pool.kind = kind;
        const Network network =
            single_layer({.name = "in", .shape = {1, 4, 1}, .is_signed = is_signed},
                         {.name = "out", .shape = {1, 2, 1}, .is_signed = is_signed}, pool);
        return execute(network, std::vector<std::uint8_t>{255, 254, 1, 2}, 1);
    };
    CHECK(run(quantized::PoolKind::Max) == TensorBytes{255, 2});
    // Halves go away from zero: 254.5 to 255, -1.5 to -2 (254), 1.5 to 2.
    CHECK(run(quantized::PoolKind::Average) ==
          TensorBytes{static_cast<std::uint8_t>(is_signed ? 254 : 255), 2});
}

TEST_CASE("Padding counts in pooling only where it is asked for", "[compiler][reference]") {
    quantized::Pool pool;
    pool.window = {.kernel_height = 2, .kernel_width = 1, .stride_y = 1, .stride_x = 1, .pad_top = 1};
    pool.count_padding = GENERATE(false, true);
    const auto run = [&](quantized::PoolKind kind) {
        pool.kind = kind;
        const Network network = single_layer({.name = "in", .shape = {1, 1, 1}, .zero_point = 50},
                                             {.name = "out", .shape = {1, 1, 1}, .zero_point = 50}, pool);
        return execute(network, std::vector<std::uint8_t>{20}, 1)[0];
    };
    CHECK(run(quantized::PoolKind::Max) == (pool.count_padding ? 50 : 20));
    CHECK(run(quantized::PoolKind::Average) == (pool.count_padding ? 35 : 20));
}

TEST_CASE("An addition rescales both sides", "[compiler][reference]") {
    quantized::Add add;
    add.multiplier_a = one;  // 1/2
    add.multiplier_b = one;  // 1/2 * 2^-1
    add.shift_b = -1;
    add.multiplier = one;  // 1/2 * 2^-19: undoes the headroom of 20 bits
    add.shift = -19;
    add.minimum = 0;
    add.maximum = 255;
    Network network;
    network.tensors = {{.name = "a", .shape = {1, 1, 4}, .zero_point = 10},
                       {.name = "b", .shape = {1, 1, 4}},
                       {.name = "sum", .shape = {1, 1, 4}, .zero_point = 3}};
    std::array<std::uint8_t, 256> swap{};
    for (std::size_t i = 0; i < swap.size(); ++i) swap[i] = static_cast<std::uint8_t>(255 - i);
    network.layers = {{.name = "b", .inputs = {0}, .output = 1, .operation = quantized::Lookup{swap}},
                      {.name = "sum", .inputs = {0, 1}, .output = 2, .operation = add}};
    network.output = 2;
    const std::vector<TensorBytes> tensors =
        execute_all(network, std::vector<std::uint8_t>{10, 50, 0, 255}, 1);
    CHECK(tensors[1] == TensorBytes{245, 205, 255, 0});
    // (a - 10) / 2 + b / 4 + 3, halves away from zero: 64.25, 74.25, 61.75, 125.5
    CHECK(tensors[2] == TensorBytes{64, 74, 62, 126});
}

TEST_CASE("The reference's fixed point agrees with the chip's on any numbers", "[compiler][reference]") {
    const std::uint32_t seed = 31;
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const std::vector<std::int32_t> extremes = {std::numeric_limits<std::int32_t>::min(),
                                                std::numeric_limits<std::int32_t>::max(),
                                                -1,
                                                0,
                                                1,
                                                1 << 30};
    const auto draw = [&] {
        if (random() % 4 == 0) return extremes[random() % extremes.size()];
        return static_cast<std::int32_t>(random()) >> (random() % 32);
    };
    for (int run = 0; run < 100000; ++run) {
        const std::int32_t x = draw();
        const std::int32_t multiplier = draw();
        const int shift = static_cast<int>(random() % 256) - 128;
        const std::int32_t expected = math::multiply_by_quantized_multiplier(x, multiplier, shift);
        if (scale(x, multiplier, shift) != expected) {
            CAPTURE(x, multiplier, shift);
            REQUIRE(scale(x, multiplier, shift) == expected);
        }
    }
}

TEST_CASE("Fixed point rounds as gemmlowp does", "[compiler][reference]") {
    constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min();
    constexpr std::int32_t highest = std::numeric_limits<std::int32_t>::max();
    CHECK(saturating_rounding_doubling_high_multiply(lowest, lowest) == highest);
    CHECK(saturating_rounding_doubling_high_multiply(3, one) == 2);    // 1.5
    CHECK(saturating_rounding_doubling_high_multiply(-3, one) == -1);  // -1.5
    CHECK(rounding_divide_by_power_of_two(5, 1) == 3);
    CHECK(rounding_divide_by_power_of_two(-5, 1) == -3);
    CHECK(rounding_divide_by_power_of_two(5, 2) == 1);
    CHECK(rounding_divide_by_power_of_two(7, 0) == 7);
    CHECK(scale(100, one, 1) == 100);
    CHECK(scale(100, one, -1) == 25);
}

TEST_CASE("The executor refuses what does not fit together", "[compiler][reference]") {
    quantized::Dense dense;
    dense.weights = {1, 2};
    dense.requantization = unchanged(1);
    Network network =
        single_layer({.name = "in", .shape = {1, 1, 2}}, {.name = "out", .shape = {1, 1, 1}}, dense);
    const std::vector<std::uint8_t> input(4);
    CHECK_NOTHROW(execute(network, input, 2));
    CHECK_THROWS_AS(execute(network, input, 1), std::logic_error);
    CHECK_THROWS_AS(execute(network, input, 3), std::logic_error);
    network.layers[0].inputs = {1};
    CHECK_THROWS_AS(execute(network, input, 2), std::logic_error);
    network.layers[0].inputs = {0};
    std::get<quantized::Dense>(network.layers[0].operation).weights.pop_back();
    CHECK_THROWS_AS(execute(network, input, 2), std::logic_error);
}

TEST_CASE("Multiply-accumulates are those of the definition, structural zeros not among them",
          "[compiler][reference]") {
    const Tensor image{.name = "in", .shape = {6, 5, 3}};
    const auto macs = [&](const graph::Shape& output, Operation operation) {
        const Network network = single_layer(image, {.name = "out", .shape = output}, std::move(operation));
        return quantized::macs(network, network.layers[0]);
    };
    quantized::Convolution convolution;
    convolution.window = {.kernel_height = 3, .kernel_width = 2};
    quantized::DepthwiseConvolution depthwise;
    depthwise.window = convolution.window;
    depthwise.channel_multiplier = 2;
    CHECK(macs({4, 4, 7}, convolution) == 4 * 4 * 7 * (3 * 2 * 3));
    CHECK(macs({4, 4, 6}, depthwise) == 4 * 4 * 6 * (3 * 2));
    CHECK(macs({1, 1, 10}, quantized::Dense{}) == 6 * 5 * 3 * 10);
    CHECK(macs({4, 4, 3}, quantized::Pool{}) == 0);
    CHECK(macs({6, 5, 3}, quantized::Lookup{}) == 0);
    CHECK(macs({6, 5, 3}, quantized::Add{}) == 0);
}

}  // namespace systole::reference
