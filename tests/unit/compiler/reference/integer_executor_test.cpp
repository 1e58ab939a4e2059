#include "compiler/reference/integer_executor.h"

#include <catch2/catch.hpp>
#include <limits>
#include <random>
#include <stdexcept>

#include "compiler/reference/fixed_point.h"
#include "hw/base/fixed_point.h"

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

namespace {

/// 16-bit elements, little endian.
TensorBytes wide(const std::vector<std::int16_t>& elements) {
    TensorBytes bytes;
    for (const std::int16_t element : elements) {
        bytes.push_back(static_cast<std::uint8_t>(element));
        bytes.push_back(static_cast<std::uint8_t>(element >> 8));
    }
    return bytes;
}

Tensor wide_tensor(const char* name, const ir::FeatureMap& shape) {
    return {.name = name, .shape = shape, .type = DataType::Int16};
}

}  // namespace

TEST_CASE("A dense layer of 16-bit inputs adds the products of all of them", "[compiler][reference]") {
    quantized::Dense dense;
    dense.weights = {1, -1, 2, 0, 100, 127};
    dense.requantization = unchanged(2);
    dense.requantization.bias = {5, 0};
    dense.requantization.minimum = -32768;
    dense.requantization.maximum = 32767;
    Network network;
    network.tensors = {wide_tensor("in", {1, 1, 3}), wide_tensor("a", {1, 1, 2}), wide_tensor("b", {1, 1, 1}),
                       wide_tensor("out", {1, 1, 2})};
    network.layers = {
        {.name = "a", .inputs = {0}, .output = 1, .operation = quantized::Slice{.first_element = 1}},
        {.name = "b", .inputs = {0}, .output = 2, .operation = quantized::Slice{.first_element = 0}},
        {.name = "dense", .inputs = {1, 2}, .output = 3, .operation = dense}};
    network.output = 3;
    // a is the second and third element, b the first.
    CHECK(execute(network, wide({3, 1000, -2000}), 1) == wide({1000 - 4000 + 300 + 5, -1000 + 3 * 127}));
    CHECK(execute(network, wide({-300, 32767, 1}), 1) == wide({32767 + 2 - 30000 + 5, -32768}));
    CHECK(execute_all(network, wide({1, 2, 3, 4, 5, 6}), 2)[1] == wide({2, 3, 5, 6}));
}

TEST_CASE("A wide table is a line between two entries", "[compiler][reference]") {
    quantized::WideTable table{};
    table[256] = 100;
    table[257] = 103;
    table[0] = -32768;
    table[1] = 32767;
    const Network network =
        single_layer(wide_tensor("in", {1, 1, 5}), wide_tensor("out", {1, 1, 5}), quantized::Lookup{table});
    CHECK(execute(network, wide({0, 63, 64, -32768, -32767}), 1) == wide({100, 101, 102, -32768, -32256}));
    Network narrow = network;
    narrow.layers[0].operation = quantized::Lookup{};
    CHECK_THROWS_AS(execute(narrow, wide({0, 63, 64, 0, 0}), 1), std::logic_error);
}

TEST_CASE("16-bit sums and products are scaled and clamped", "[compiler][reference]") {
    Network network;
    network.tensors = {wide_tensor("in", {1, 1, 4}), wide_tensor("out", {1, 1, 4})};
    network.output = 1;
    network.layers = {{.name = "product",
                       .inputs = {0, 0},
                       .output = 1,
                       .operation = quantized::Multiply{
                           .multiplier = one, .shift = -3, .minimum = -100, .maximum = 20000}}};
    // x * x / 16, halves away from zero once they are there.
    CHECK(execute(network, wide({20, -20, 6, 32767}), 1) == wide({25, 25, 2, 20000}));
    // Both at half, lifted by 15 bits: (x + x) / 2 * 2^15 / 2^14.
    network.layers[0].operation = quantized::Add{.multiplier_a = one,
                                                 .multiplier_b = one,
                                                 .multiplier = one,
                                                 .shift_a = 0,
                                                 .shift_b = 0,
                                                 .shift = -13,
                                                 .minimum = -30000,
                                                 .maximum = 32767};
    CHECK(execute(network, wide({20, -20, 16383, -32768}), 1) == wide({40, -40, 32766, -30000}));
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
    const Network network = single_layer(
        {.name = "in",
         .shape = {2, 1, 1},
         .zero_point = zero_point,
         .type = is_signed ? DataType::Int8 : DataType::Uint8},
        {.name = "out", .shape = {2, 1, 1}, .type = is_signed ? DataType::Int8 : DataType::Uint8},
        convolution);
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
                                         {.name = "out", .shape = {1, 1, 2}, .type = DataType::Int8}, dense);
    const TensorBytes expected = dense.requantization.table ? TensorBytes{1, 2} : TensorBytes{20, 253};
    CHECK(execute(network, std::vector<std::uint8_t>{200}, 1) == expected);
}

TEST_CASE("Pooling takes the largest or the rounded mean", "[compiler][reference]") {
    const bool is_signed = GENERATE(false, true);
    quantized::Pool pool;
    pool.window = {.kernel_height = 1, .kernel_width = 2, .stride_y = 1, .stride_x = 2};
    const auto run = [&](quantized::PoolKind kind) {
        pool.kind = kind;
        const Network network = single_layer(
            {.name = "in", .shape = {1, 4, 1}, .type = is_signed ? DataType::Int8 : DataType::Uint8},
            {.name = "out", .shape = {1, 2, 1}, .type = is_signed ? DataType::Int8 : DataType::Uint8}, pool);
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

TEST_CASE("A concatenation interleaves the bytes of its inputs", "[compiler][reference]") {
    Network network;
    network.tensors = {{.name = "a", .shape = {2, 1, 2}, .zero_point = 9},
                       {.name = "b", .shape = {2, 1, 1}, .zero_point = 9},
                       {.name = "ab", .shape = {2, 1, 5}, .zero_point = 9}};
    quantized::Convolution first_channel;
    first_channel.weights = {1, 0};
    first_channel.requantization = unchanged(1);
    network.layers = {{.name = "b", .inputs = {0}, .output = 1, .operation = first_channel},
                      {.name = "ab", .inputs = {0, 1, 0}, .output = 2, .operation = quantized::Concat{}}};
    network.output = 2;
    const auto run = [&] { return execute(network, std::vector<std::uint8_t>{1, 2, 3, 4}, 1); };
    CHECK(run() == TensorBytes{1, 2, 1, 1, 2, 3, 4, 3, 3, 4});
    network.tensors[1].zero_point = 8;
    CHECK_THROWS_AS(run(), std::logic_error);
    network.tensors[1].zero_point = 9;
    network.tensors[2].shape.channels = 6;
    CHECK_THROWS_AS(run(), std::logic_error);
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
        const std::int32_t expected = multiply_by_quantized_multiplier(x, multiplier, shift);
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
    const auto macs = [&](const ir::FeatureMap& output, Operation operation) {
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
    CHECK(macs({6, 5, 3}, quantized::Concat{}) == 0);
    CHECK(macs({6, 5, 3}, quantized::Add{}) == 0);
}

}  // namespace systole::reference
