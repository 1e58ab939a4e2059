#include <catch2/catch.hpp>
#include <limits>
#include <random>
#include <stdexcept>

#include "base/fixed_point.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/fixed_point.h"
#include "compiler/reference/executor.h"
#include "compiler/target/tpu_v1/lowering/lowering.h"
#include "tests/support/integer_graphs.h"
#include "tests/support/random_runs.h"

namespace systole::reference {
namespace {

using ir::Encoding;
using tests::IntegerGraph;

constexpr std::int32_t one = 1 << 30;  ///< with a shift of 1, the multiplier 1

using Clamp = std::vector<std::int64_t>;

std::vector<ir::NamedAttribute> clamp(std::int64_t minimum, std::int64_t maximum) {
    return {{"clamp", Clamp{minimum, maximum}}};
}

/// 16-bit elements, little endian.
TensorBytes wide(const std::vector<std::int16_t>& elements) {
    TensorBytes bytes;
    for (const std::int16_t element : elements) {
        bytes.push_back(static_cast<std::uint8_t>(element));
        bytes.push_back(static_cast<std::uint8_t>(element >> 8));
    }
    return bytes;
}

constexpr Encoding wide_numbers{1.0, 0, DataType::Int16};

}  // namespace

TEST_CASE("A convolution adds up its windows in height, width, channel order", "[compiler][reference]") {
    IntegerGraph made;
    const ir::ValueId image = made.input({2, 3, 2});
    // Two filters: the first gives each of the 8 window elements a digit's weight, the second none.
    made.convolution(image, {.kernel_height = 2, .kernel_width = 2}, 2,
                     {.values = {1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 0}, .bias = {0, 9}}, {});
    // Pixels (1,0) (0,1) (0,0) / (0,0) (0,2) (3,0)
    const std::vector<std::uint8_t> input = {1, 0, 0, 1, 0, 0, 0, 0, 0, 2, 3, 0};
    // Left: 1*1 + 1*4 + 2*8 = 21; right: 1*2 + 2*6 + 3*7 = 35.
    CHECK(execute(made.graph(), input, 1) == TensorBytes{21, 9, 35, 9});
}

TEST_CASE("A dense layer of 16-bit inputs adds the products of all of them", "[compiler][reference]") {
    IntegerGraph made;
    const ir::ValueId input = made.input({1, 1, 3}, wide_numbers);
    const ir::ValueId a = made.slice(input, 1, 2);
    const ir::ValueId b = made.slice(input, 0, 1);
    made.dense({a, b}, 2, {.values = {1, -1, 2, 0, 100, 127}, .bias = {5, 0}}, wide_numbers);
    const ir::Graph& graph = made.graph();
    // a is the second and third element, b the first.
    CHECK(execute(graph, wide({3, 1000, -2000}), 1) == wide({1000 - 4000 + 300 + 5, -1000 + 3 * 127}));
    CHECK(execute(graph, wide({-300, 32767, 1}), 1) == wide({32767 + 2 - 30000 + 5, -32768}));
    CHECK(execute_all(graph, wide({1, 2, 3, 4, 5, 6}), 2)[a] == wide({2, 3, 5, 6}));
}

TEST_CASE("Inputs of a dense layer count as if all had the largest scale", "[compiler][reference]") {
    IntegerGraph made;
    const ir::ValueId input = made.input({1, 1, 2}, {0.5, 100});
    const ir::ValueId half = made.dense({input}, 2, {.values = {1, 0, 0, 1}, .scales = {0.25}}, {0.125, 7});
    made.dense({input, half}, 1, {.values = {2, 0, 3, 0}, .scales = {4.0}, .bias = {1}}, {2.0, 1});
    // half: the same numbers, 7 up. Then (2 * 10 + 3 * 10 + 1) * (0.5 * 4 / 2) + 1.
    CHECK(execute_all(made.graph(), std::vector<std::uint8_t>{110, 100}, 1)[half] == TensorBytes{17, 7});
    CHECK(execute(made.graph(), std::vector<std::uint8_t>{110, 100}, 1) == TensorBytes{52});
}

TEST_CASE("A wide table is a line between two entries", "[compiler][reference]") {
    std::vector<std::int16_t> table(513);
    table[256] = 100;
    table[257] = 103;
    table[0] = -32768;
    table[1] = 32767;
    IntegerGraph made;
    made.lookup(made.input({1, 1, 5}, wide_numbers), table, wide_numbers);
    CHECK(execute(made.graph(), wide({0, 63, 64, -32768, -32767}), 1) ==
          wide({100, 101, 102, -32768, -32256}));
    IntegerGraph narrow;
    CHECK_THROWS_AS(narrow.lookup(narrow.input({1, 1, 5}), table, wide_numbers), ModelError);
}

TEST_CASE("A byte is looked up by its bits, whatever its sign", "[compiler][reference]") {
    std::vector<std::int8_t> table(256);
    table[255] = -7;
    table[1] = 9;
    IntegerGraph made;
    made.lookup(made.input({1, 1, 2}, {1.0, 0, DataType::Int8}), table, {1.0, 0, DataType::Int8});
    CHECK(execute(made.graph(), std::vector<std::uint8_t>{255, 1}, 1) == TensorBytes{249, 9});
}

TEST_CASE("16-bit sums and products are scaled and clamped", "[compiler][reference]") {
    IntegerGraph product;
    const ir::ValueId x = product.input({1, 1, 4}, wide_numbers);
    product.append("multiply", {x, x}, {16.0, 0, DataType::Int16}, clamp(-100, 20000));
    // x * x / 16, halves away from zero once they are there.
    CHECK(execute(product.graph(), wide({20, -20, 6, 32767}), 1) == wide({25, 25, 2, 20000}));
    IntegerGraph sum;
    const ir::ValueId y = sum.input({1, 1, 4}, wide_numbers);
    sum.append("add", {y, y}, wide_numbers, clamp(-30000, 32767));
    CHECK(execute(sum.graph(), wide({20, -20, 16383, -32768}), 1) == wide({40, -40, 32766, -30000}));
}

TEST_CASE("Outside the image a convolution sees the zero point", "[compiler][reference]") {
    const bool is_signed = GENERATE(false, true);
    const DataType type = is_signed ? DataType::Int8 : DataType::Uint8;
    IntegerGraph made;
    const ir::ValueId image = made.input({2, 1, 1}, {1.0, is_signed ? -2 : 2, type});
    made.convolution(image,
                     {.kernel_height = 3, .kernel_width = 1, .stride_y = 2, .pad_top = 1, .pad_bottom = 2}, 1,
                     {.values = {1, 10, 100}}, {4.0, 0, type});
    // Windows: 0, 1 - zero point, 3 - zero point, and 3 - zero point, 0, 0; a quarter of their sums.
    // By half and half again, rounded upwards both times: 1 / 4 is 1, 5 / 4 is 2.
    const std::int32_t second = is_signed ? 2 : 1;
    const std::int32_t first = is_signed ? 127 : (-10 + 100 + 2) / 4;
    CHECK(execute(made.graph(), std::vector<std::uint8_t>{1, 3}, 1) ==
          TensorBytes{static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(second)});
}

TEST_CASE("A depthwise convolution keeps channels apart", "[compiler][reference]") {
    IntegerGraph made;
    const ir::ValueId image = made.input({1, 2, 2});
    made.depthwise(image, {.kernel_width = 2}, 2, {.values = {1, 2, 3, 4, 5, 6, 7, 8}}, {});
    // Channel 0 is 1, 10; channel 1 is 2, 20.
    CHECK(execute(made.graph(), std::vector<std::uint8_t>{1, 2, 10, 20}, 1) ==
          TensorBytes{1 + 50, 2 + 60, 6 + 140, 8 + 160});
}

TEST_CASE("A dense layer flattens its input, image by image", "[compiler][reference]") {
    IntegerGraph made;
    made.dense({made.input({1, 3, 1})}, 2, {.values = {1, -1, 2, 0, 3, 1}}, {1.0, 100});
    const std::vector<std::uint8_t> input = {1, 2, 3, 10, 0, 1};
    CHECK(execute(made.graph(), input, 2) == TensorBytes{114, 102, 113, 91});
}

TEST_CASE("Each output channel may have a scale of its own", "[compiler][reference]") {
    IntegerGraph made;
    made.dense({made.input({1, 1, 1}, {0.5, 10})}, 3,
               {.values = {4, 4, 4}, .scales = {1.0, 0.5, 0.25}, .bias = {2, 0, -2}}, {0.5, 3});
    // 4 * (20 - 10) = 40, and the bias, times the scale.
    CHECK(execute(made.graph(), std::vector<std::uint8_t>{20}, 1) == TensorBytes{45, 23, 13});
}

TEST_CASE("Results are clamped, then looked up", "[compiler][reference]") {
    const bool looks_up = GENERATE(false, true);
    const Encoding bytes{1.0, 0, DataType::Int8};
    IntegerGraph made;
    const ir::ValueId sums =
        made.dense({made.input({1, 1, 1})}, 2, {.values = {1, -1}}, bytes, clamp(-3, 20));
    std::vector<std::int8_t> table(256);
    table[20] = 1;
    table[253] = 2;
    if (looks_up) made.lookup(sums, table, bytes);
    CHECK(execute(made.graph(), std::vector<std::uint8_t>{200}, 1) ==
          (looks_up ? TensorBytes{1, 2} : TensorBytes{20, 253}));
    // The chip does both at once.
    CHECK(tpu_v1::lower(made.graph()).layers.size() == 1);
}

TEST_CASE("Pooling takes the largest or the rounded mean", "[compiler][reference]") {
    const bool is_signed = GENERATE(false, true);
    const auto run = [&](const char* op) {
        IntegerGraph made;
        const ir::ValueId image =
            made.input({1, 4, 1}, {1.0, 0, is_signed ? DataType::Int8 : DataType::Uint8});
        made.pool(op, image, {.kernel_width = 2, .stride_x = 2});
        return execute(made.graph(), std::vector<std::uint8_t>{255, 254, 1, 2}, 1);
    };
    CHECK(run("max_pool") == TensorBytes{255, 2});
    // Halves go away from zero: 254.5 to 255, -1.5 to -2 (254), 1.5 to 2.
    CHECK(run("average_pool") == TensorBytes{static_cast<std::uint8_t>(is_signed ? 254 : 255), 2});
}

TEST_CASE("Padding does not count in pooling; a border is of the zero point", "[compiler][reference]") {
    for (const char* const op : {"max_pool", "average_pool"}) {
        IntegerGraph made;
        made.pool(op, made.input({1, 1, 1}, {1.0, 50}), {.kernel_height = 2, .pad_top = 1});
        CHECK(execute(made.graph(), std::vector<std::uint8_t>{20}, 1) == TensorBytes{20});
    }
    IntegerGraph made;
    const ir::ValueId image = made.input({1, 1, 1}, {1.0, 50});
    made.append("zero_padding", {image}, {1.0, 50}, {{"padding", std::vector<std::int64_t>{1, 0, 0, 1}}});
    CHECK(execute(made.graph(), std::vector<std::uint8_t>{20}, 1) == TensorBytes{50, 50, 20, 50});
}

TEST_CASE("An addition rescales both sides", "[compiler][reference]") {
    IntegerGraph made;
    const ir::ValueId a = made.input({1, 1, 4}, {1.0, 10});
    std::vector<std::uint8_t> swap(256);
    for (std::size_t i = 0; i < swap.size(); ++i) swap[i] = static_cast<std::uint8_t>(255 - i);
    const ir::ValueId b = made.lookup(a, swap, {0.5, 0});
    made.append("add", {a, b}, {2.0, 3});
    const std::vector<TensorBytes> values =
        execute_all(made.graph(), std::vector<std::uint8_t>{10, 50, 0, 255}, 1);
    CHECK(values[b] == TensorBytes{245, 205, 255, 0});
    // (a - 10) / 2 + b / 4 + 3, halves away from zero: 64.25, 74.25, 61.75, 125.5
    CHECK(values[made.graph().outputs.front()] == TensorBytes{64, 74, 62, 126});
}

TEST_CASE("A concatenation interleaves the bytes of its inputs", "[compiler][reference]") {
    const Encoding encoding{1.0, 9};
    IntegerGraph made;
    const ir::ValueId a = made.input({2, 1, 2}, encoding);
    const ir::ValueId b = made.convolution(a, {}, 1, {.values = {1, 0}}, encoding);
    made.append("concat", {a, b, a}, encoding);
    CHECK(execute(made.graph(), std::vector<std::uint8_t>{11, 12, 13, 14}, 1) ==
          TensorBytes{11, 12, 11, 11, 12, 13, 14, 13, 13, 14});
    CHECK(ir::find_fault(made.graph()) == std::nullopt);
    // Bytes with another zero point are converted.
    made.store(b, {1.0, 8});
    CHECK(ir::find_fault(made.graph()) == std::nullopt);
    CHECK(execute(made.graph(), std::vector<std::uint8_t>{11, 12, 13, 14}, 1) ==
          TensorBytes{11, 12, 11, 11, 12, 13, 14, 13, 13, 14});
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
    for (std::uint32_t run = 0; run < tests::random_runs(100000); ++run) {
        const std::int32_t x = draw();
        const std::int32_t multiplier = draw();
        const int shift = static_cast<int>(random() % 256) - 128;
        const std::int32_t expected = multiply_by_quantized_multiplier(x, multiplier, shift);
        if (operators::scale(x, multiplier, shift) != expected) {
            CAPTURE(x, multiplier, shift);
            REQUIRE(operators::scale(x, multiplier, shift) == expected);
        }
    }
}

TEST_CASE("Scaled sums are rounded once or twice", "[compiler][reference]") {
    const auto results = [](const std::string& rounding) {
        IntegerGraph made;
        made.dense({made.input({1, 1, 1}, {1.0, 4})}, 1, {.values = {1}, .scales = {1.0 / 7.0}}, {1.0, 10},
                   {{"rounding", rounding}});
        return execute(made.graph(), std::vector<std::uint8_t>{1, 3, 4, 7, 8, 14}, 6);
    };
    // -3/7, -1/7, 0, 3/7, 4/7, 10/7. Of 3/7, the first rounding makes 2/4.
    CHECK(results("half_to_even") == TensorBytes{10, 10, 10, 10, 11, 11});
    CHECK(results("float_half_even") == TensorBytes{10, 10, 10, 10, 11, 11});
    CHECK(results("tflite") == TensorBytes{9, 10, 10, 11, 11, 12});
}

TEST_CASE("Halves of sums that are rounded once become the even number", "[compiler][reference]") {
    const auto results = [](std::int64_t real_multiplier) {
        IntegerGraph made;
        made.dense({made.input({1, 1, 1}, {1.0, 4})}, 1, {.values = {1}, .scales = {0.5}}, {1.0, 10},
                   {{"rounding", std::string("half_to_even")}, {"real_multiplier", real_multiplier}});
        return execute(made.graph(), std::vector<std::uint8_t>{1, 3, 4, 5, 7, 9}, 6);
    };
    // -1.5, -0.5, 0, 0.5, 1.5, 2.5
    CHECK(results(0) == TensorBytes{8, 10, 10, 10, 12, 12});
    CHECK(results(1) == TensorBytes{8, 10, 10, 10, 12, 12});
    CHECK(operators::scale_to_even(7, 1 << 30, 31) == (1 << 30) - 1);
    CHECK(operators::scale_to_even(-7, 1 << 30, 31) == -(1 << 30));
    CHECK(operators::scale_real_to_even(147, 1.0 / 98.0) == 2);
    CHECK(operators::scale_real_to_even(std::int64_t{1} << 40, 1.0) == (1 << 30) - 64);
}

TEST_CASE("Sums are multiplied by the scales' quotient in float64", "[compiler][reference]") {
    const auto results = [](double scale) {
        IntegerGraph made;
        made.dense({made.input({1, 1, 1}, {1.0, 4})}, 1, {.values = {1}, .scales = {scale}}, {1.0, 10},
                   {{"real_multiplier", std::int64_t{1}}});
        return execute(made.graph(), std::vector<std::uint8_t>{1, 3, 4, 7, 8, 14}, 6);
    };
    // -3/7, -1/7, 0, 3/7, 4/7, 10/7.
    CHECK(results(1.0 / 7.0) == TensorBytes{10, 10, 10, 10, 11, 11});
    // -1.5, -0.5, 0, 1.5, 2, 5: halves away from zero.
    CHECK(results(0.5) == TensorBytes{8, 9, 10, 12, 12, 15});
    CHECK(operators::scale_real((std::int64_t{1} << 40) + (1 << 20), std::ldexp(1.0, -21)) == (1 << 19) + 1);
    CHECK(operators::scale_real(std::int64_t{1} << 40, 1.0) == std::numeric_limits<std::int32_t>::max());
}

TEST_CASE("Fixed point rounds as gemmlowp does", "[compiler][reference]") {
    constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min();
    constexpr std::int32_t highest = std::numeric_limits<std::int32_t>::max();
    CHECK(operators::saturating_rounding_doubling_high_multiply(lowest, lowest) == highest);
    CHECK(operators::saturating_rounding_doubling_high_multiply(3, one) == 2);    // 1.5
    CHECK(operators::saturating_rounding_doubling_high_multiply(-3, one) == -1);  // -1.5
    CHECK(operators::rounding_divide_by_power_of_two(5, 1) == 3);
    CHECK(operators::rounding_divide_by_power_of_two(-5, 1) == -3);
    CHECK(operators::rounding_divide_by_power_of_two(5, 2) == 1);
    CHECK(operators::rounding_divide_by_power_of_two(7, 0) == 7);
    CHECK(operators::scale(100, one, 1) == 100);
    CHECK(operators::scale(100, one, -1) == 25);
}

TEST_CASE("The executor refuses an input of another size, and values that are not known",
          "[compiler][reference]") {
    IntegerGraph made;
    made.dense({made.input({1, 1, 2})}, 1, {.values = {1, 2}}, {});
    const std::vector<std::uint8_t> input(4);
    CHECK_NOTHROW(execute(made.graph(), input, 2));
    CHECK_THROWS_AS(execute(made.graph(), input, 1), std::logic_error);
    CHECK_THROWS_AS(execute(made.graph(), input, 3), std::logic_error);
    made.graph().values[1].constant = ir::Constant();
    CHECK_THROWS_AS(execute(made.graph(), input, 2), std::logic_error);
    CHECK_THROWS_WITH(tpu_v1::lower(made.graph()),
                      "made: \"weights\" has no values; the graph must be one without weights, or have all");
}

TEST_CASE("Multiply-accumulates are those of the definition, structural zeros not among them",
          "[compiler][reference]") {
    const auto macs = [](const auto& append) {
        IntegerGraph made;
        append(made, made.input({6, 5, 3}));
        return tpu_v1::lower(made.graph()).layers.back().macs;
    };
    const ir::Window window{.kernel_height = 3, .kernel_width = 2};
    const auto weights = [](std::size_t count) {
        return tests::IntegerWeights{.values = std::vector<std::int8_t>(count)};
    };
    CHECK(macs([&](auto& made, ir::ValueId image) {
              made.convolution(image, window, 7, weights(3 * 2 * 3 * 7), {});
          }) == 4 * 4 * 7 * (3 * 2 * 3));
    CHECK(macs([&](auto& made, ir::ValueId image) {
              made.depthwise(image, window, 2, weights(3 * 2 * 6), {});
          }) == 4 * 4 * 6 * (3 * 2));
    CHECK(macs([&](auto& made, ir::ValueId image) {
              made.dense({image}, 10, weights(6 * 5 * 3 * 10), {});
          }) == 6 * 5 * 3 * 10);
    CHECK(macs([&](auto& made, ir::ValueId image) { made.pool("max_pool", image, window); }) == 0);
    CHECK(macs([&](auto& made, ir::ValueId image) { made.append("concat", {image, image}, {}); }) == 0);
    CHECK(macs([&](auto& made, ir::ValueId image) { made.append("add", {image, image}, {}); }) == 0);
}

}  // namespace systole::reference
