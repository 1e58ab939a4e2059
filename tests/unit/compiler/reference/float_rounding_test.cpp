// The rounding float_half_even of each operator that has it, against its rule written out.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/fixed_point.h"
#include "base/rounding.h"
#include "compiler/operators/integer_types.h"
#include "compiler/passes/set_rounding.h"
#include "compiler/reference/executor.h"
#include "tests/support/integer_graphs.h"
#include "tests/support/random_runs.h"

namespace systole::reference {
namespace {

using ir::Encoding;
using tests::IntegerGraph;

/// A float32 plus bias as the machine stores it: clamped in float32 before it is rounded.
std::int32_t stored_by_rule(float scaled, const Encoding& encoding, std::int32_t minimum,
                            std::int32_t maximum) {
    const float limited = std::clamp(scaled, static_cast<float>(minimum - encoding.zero_point),
                                     static_cast<float>(maximum - encoding.zero_point));
    return static_cast<std::int32_t>(std::nearbyint(limited)) + encoding.zero_point;
}

class Draw {
public:
    explicit Draw(std::uint32_t seed) : random_(seed) {}

    int between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
    bool one_in(int n) { return between(1, n) == 1; }
    /// A power of two, which gives many halves, or any number; between 2^low and 2^high.
    double scale(int low, int high) {
        const double mantissa = one_in(2) ? 1.0 : 1.0 + between(0, (1 << 30) - 1) * 0x1p-30;
        return std::ldexp(mantissa, between(low, high - 1));
    }
    Encoding encoding(DataType type, double scale) {
        return {scale, between(lowest_of(type), highest_of(type)), type};
    }
    std::vector<std::uint8_t> bytes(std::size_t count) {
        std::vector<std::uint8_t> drawn(count);
        for (std::uint8_t& byte : drawn) byte = static_cast<std::uint8_t>(between(0, 255));
        return drawn;
    }

private:
    std::mt19937 random_;
};

std::int32_t number_of(std::uint8_t byte, DataType type) {
    return type == DataType::Int8 ? static_cast<std::int8_t>(byte) : byte;
}

std::vector<std::int32_t> numbers_of(const TensorBytes& bytes, DataType type) {
    std::vector<std::int32_t> numbers;
    for (const std::uint8_t byte : bytes) numbers.push_back(number_of(byte, type));
    return numbers;
}

constexpr const char* weighted[] = {"dense", "convolution", "depthwise_convolution",
                                    "transposed_convolution"};

/// A drawn node with weights on `pixels` pixels of `channels` channels, each result of which is a sum over
/// the channels of its pixel, or over one of them if it is depthwise.
struct WeightedCase {
    WeightedCase(Draw& draw, const std::string& op, std::vector<ir::NamedAttribute> attributes)
        : is_depthwise(op == "depthwise_convolution"),
          type(draw.one_in(2) ? DataType::Int8 : DataType::Uint8),
          pixels(op == "dense" ? 1 : static_cast<std::uint32_t>(draw.between(1, 6))),
          channels(static_cast<std::uint32_t>(draw.between(1, 9))),
          filters(is_depthwise ? channels * static_cast<std::uint32_t>(draw.between(1, 3))
                               : static_cast<std::uint32_t>(draw.between(1, 9))),
          input(draw.encoding(type, draw.scale(-8, 2))) {
        const std::uint32_t taps = is_depthwise ? 1 : channels;
        for (std::uint32_t i = 0; i < taps * filters; ++i) {
            weights.values.push_back(static_cast<std::int8_t>(draw.between(-128, 127)));
        }
        const double largest_multiplier = 0x1p-1;
        weights.scales.assign(draw.one_in(2) ? 1 : filters, 0.0);
        for (double& scale : weights.scales) scale = draw.scale(-12, 0);
        if (weights.scales.size() == 1 && draw.one_in(2)) weights.zero_point = draw.between(-128, 127);
        if (draw.one_in(2)) {
            for (std::uint32_t f = 0; f < filters; ++f) weights.bias.push_back(draw.between(-3000, 3000));
        }
        const double most = *std::ranges::max_element(weights.scales) * input.scale;
        output = draw.encoding(type, most / draw.scale(-9, -1) / (2 * largest_multiplier));
        if (draw.one_in(3)) {
            minimum = draw.between(lowest_of(type), highest_of(type));
            maximum = draw.between(minimum, highest_of(type));
            attributes.emplace_back("clamp", std::vector<std::int64_t>{minimum, maximum});
        } else {
            minimum = lowest_of(type);
            maximum = highest_of(type);
        }
        const ir::Window window{};
        const ir::ValueId from = made.input({.height = 1, .width = pixels, .channels = channels}, input);
        if (op == "dense") {
            made.dense({from}, filters, weights, output, std::move(attributes));
        } else if (op == "convolution") {
            made.convolution(from, window, filters, weights, output, std::move(attributes));
        } else if (is_depthwise) {
            made.depthwise(from, window, filters / channels, weights, output, std::move(attributes));
        } else {
            made.append(op, made.with_weights({from}, {1, 1, channels, filters}, weights), output,
                        std::move(attributes));
        }
    }

    /// The sum of a result in 32 bits, bias included.
    std::int32_t sum(const std::vector<std::int32_t>& numbers, std::uint32_t pixel,
                     std::uint32_t filter) const {
        std::int32_t sum = weights.bias.empty() ? 0 : weights.bias[filter];
        for (std::uint32_t c = 0; c < channels; ++c) {
            if (is_depthwise && c != filter / (filters / channels)) continue;
            const std::int32_t weight = weights.values[is_depthwise ? filter : c * filters + filter];
            const std::int32_t number = numbers[pixel * channels + c] - input.zero_point;
            sum = wrapping_add(sum, number * (weight - weights.zero_point));
        }
        return sum;
    }
    float multiplier(std::uint32_t filter) const {
        const double scale = weights.scales[weights.scales.size() == 1 ? 0 : filter];
        return static_cast<float>(input.scale * scale / output.scale);
    }

    bool is_depthwise = false;
    DataType type = DataType::Uint8;
    std::uint32_t pixels = 1;
    std::uint32_t channels = 1;
    std::uint32_t filters = 1;
    Encoding input = {};
    Encoding output = {};
    tests::IntegerWeights weights = {};
    std::int32_t minimum = 0;
    std::int32_t maximum = 0;
    IntegerGraph made = IntegerGraph("made");
};

bool is_half(float number) {
    return std::abs(number - std::trunc(number)) == 0.5F;
}

}  // namespace

TEST_CASE("Layers with weights round in float32, halves to even", "[compiler][reference]") {
    constexpr std::uint32_t first_seed = 59000;
    INFO("first seed " << first_seed);
    std::uint32_t halves = 0;
    std::uint32_t per_channel = 0;
    for (std::uint32_t run = 0; run < tests::random_runs(2000); ++run) {
        Draw draw(first_seed + run);
        const std::string op = weighted[run % std::size(weighted)];
        WeightedCase drawn(draw, op, {{"rounding", std::string("float_half_even")}});
        // Biases near the ends of 32 bits: sums wrap around.
        if (run % 50 == 0 && !drawn.weights.bias.empty()) {
            const ir::ValueId bias = drawn.made.graph().nodes.front().inputs.at(2);
            for (std::int32_t& number : drawn.weights.bias) number = 0x7fffffff - draw.between(0, 9000);
            drawn.made.graph().values[bias].constant = ir::Constant::of(drawn.weights.bias);
        }
        CAPTURE(run, op);
        const std::vector<std::uint8_t> bytes = draw.bytes(std::size_t{drawn.pixels} * drawn.channels);
        const std::vector<std::int32_t> numbers = numbers_of(bytes, drawn.type);
        std::vector<std::int32_t> expected;
        for (std::uint32_t pixel = 0; pixel < drawn.pixels; ++pixel) {
            for (std::uint32_t f = 0; f < drawn.filters; ++f) {
                const float product = static_cast<float>(drawn.sum(numbers, pixel, f)) * drawn.multiplier(f);
                halves += is_half(product) ? 1 : 0;
                expected.push_back(stored_by_rule(product, drawn.output, drawn.minimum, drawn.maximum));
            }
        }
        per_channel += drawn.weights.scales.size() > 1 ? 1 : 0;
        REQUIRE(numbers_of(execute(drawn.made.graph(), bytes, 1), drawn.type) == expected);
    }
    CHECK(halves >= tests::random_share(200));
    CHECK(per_channel >= tests::random_share(500));
}

TEST_CASE("Sums and products of two tensors round in float32, halves to even", "[compiler][reference]") {
    constexpr std::uint32_t first_seed = 59100;
    INFO("first seed " << first_seed);
    std::uint32_t halves = 0;
    for (std::uint32_t run = 0; run < tests::random_runs(2000); ++run) {
        Draw draw(first_seed + run);
        const bool is_sum = run % 2 == 0;
        const DataType type = draw.one_in(2) ? DataType::Int8 : DataType::Uint8;
        const std::uint32_t count = 64;
        IntegerGraph made;
        const Encoding of_input = draw.encoding(type, draw.scale(-4, 4));
        const ir::ValueId whole = made.input({1, 1, 2 * count}, of_input);
        const ir::ValueId a = made.slice(whole, 0, count);
        const ir::ValueId b = made.slice(whole, count, count);
        // The second half of the same bytes, with a scale and a zero point of its own.
        const Encoding of_b = draw.encoding(type, of_input.scale * draw.scale(-3, 3));
        const ir::ValueId other = made.append("requantize", {b}, of_b);
        const Encoding output = draw.encoding(
            type, (is_sum ? std::max(of_input.scale, of_b.scale) : of_input.scale * of_b.scale * 64) *
                      draw.scale(-3, 3));
        const bool has_clamp = draw.one_in(3);
        std::int32_t minimum = lowest_of(type);
        std::int32_t maximum = highest_of(type);
        std::vector<ir::NamedAttribute> attributes{{"rounding", std::string("float_half_even")}};
        if (has_clamp) {
            minimum = draw.between(lowest_of(type), highest_of(type));
            maximum = draw.between(minimum, highest_of(type));
            attributes.emplace_back("clamp", std::vector<std::int64_t>{minimum, maximum});
        }
        const ir::ValueId result =
            made.append(is_sum ? "add" : "multiply", {a, other}, output, std::move(attributes));
        CAPTURE(run, is_sum);
        const auto all = execute_all(made.graph(), draw.bytes(std::size_t{2} * count), 1);
        const std::vector<std::int32_t> left = numbers_of(all[a], type);
        const std::vector<std::int32_t> right = numbers_of(all[other], type);
        std::vector<std::int32_t> expected;
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::int32_t x = left[i] - of_input.zero_point;
            const std::int32_t y = right[i] - of_b.zero_point;
            float scaled = 0.0F;
            if (is_sum) {
                // Volatile: a product must not become part of a fused addition.
                volatile float first =
                    static_cast<float>(x) * static_cast<float>(of_input.scale / output.scale);
                volatile float second = static_cast<float>(y) * static_cast<float>(of_b.scale / output.scale);
                scaled = first + second;
            } else {
                scaled = static_cast<float>(x * y) *
                         static_cast<float>(of_input.scale * of_b.scale / output.scale);
            }
            halves += is_half(scaled) ? 1 : 0;
            expected.push_back(stored_by_rule(scaled, output, minimum, maximum));
        }
        REQUIRE(numbers_of(all[result], type) == expected);
    }
    CHECK(halves >= tests::random_share(500));
}

TEST_CASE("Results of layers that round in float32 are within one of TFLite's", "[compiler][reference]") {
    constexpr std::uint32_t first_seed = 59200;
    INFO("first seed " << first_seed);
    std::uint32_t differences = 0;
    for (std::uint32_t run = 0; run < tests::random_runs(10000); ++run) {
        Draw draw(first_seed + run);
        const std::string op = weighted[run % std::size(weighted)];
        const WeightedCase drawn(draw, op, {});
        CAPTURE(run, op);
        const ir::Graph& tflite = drawn.made.graph();
        const ir::Graph in_float = passes::set_rounding(tflite, Rounding::FloatHalfEven);
        REQUIRE(operators::rounding_of(in_float.nodes.front()) == Rounding::FloatHalfEven);
        const std::vector<std::uint8_t> bytes = draw.bytes(std::size_t{drawn.pixels} * drawn.channels);
        const std::vector<std::int32_t> a = numbers_of(execute(tflite, bytes, 1), drawn.type);
        const std::vector<std::int32_t> b = numbers_of(execute(in_float, bytes, 1), drawn.type);
        for (std::size_t i = 0; i < a.size(); ++i) {
            REQUIRE(std::abs(a[i] - b[i]) <= 1);
            differences += a[i] != b[i] ? 1 : 0;
        }
    }
    // They are two rules.
    CHECK(differences >= tests::random_share(50));
}

}  // namespace systole::reference
