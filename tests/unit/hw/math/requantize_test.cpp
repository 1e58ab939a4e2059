#include "hw/math/requantize.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

namespace {

using namespace systole;
using namespace systole::math;

constexpr std::uint8_t not_requantized = 0xA5;

struct RequantizeExample {
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::size_t accumulator_stride = 0;
    std::size_t gap_bytes = 0;  ///< between rows of results
    std::vector<std::int32_t> accumulators;
    std::vector<std::int32_t> bias;
    std::vector<std::int32_t> multiplier;
    std::vector<std::int8_t> shift;
    std::int32_t zero_point = 0;
    std::int32_t minimum = 0;
    std::int32_t maximum = 0;
    std::vector<double> real_multiplier = {};
    bool half_to_even = false;

    Requantization parameters() const {
        return {bias, multiplier, shift, zero_point, minimum, maximum, real_multiplier, half_to_even};
    }

    std::int32_t scaled(std::int32_t sum, std::size_t c) const {
        if (!real_multiplier.empty()) {
            return half_to_even ? multiply_by_real_to_even(sum, real_multiplier[c])
                                : multiply_by_real(sum, real_multiplier[c]);
        }
        return half_to_even ? multiply_to_even(sum, multiplier[c], shift[c])
                            : multiply_by_quantized_multiplier(sum, multiplier[c], shift[c]);
    }

    std::size_t out_stride(std::size_t element_bytes) const { return columns * element_bytes + gap_bytes; }

    /// Results and the bytes between them; memory ends with the last row.
    std::vector<std::uint8_t> empty_results(std::size_t element_bytes) const {
        return std::vector<std::uint8_t>((rows - 1) * out_stride(element_bytes) + columns * element_bytes,
                                         not_requantized);
    }

    std::vector<std::uint8_t> expected(std::size_t element_bytes) const {
        auto out = empty_results(element_bytes);
        for (std::size_t row = 0; row < rows; ++row) {
            for (std::size_t c = 0; c < columns; ++c) {
                const std::int32_t sum = wrapping_add(accumulators[row * accumulator_stride + c], bias[c]);
                const std::int32_t result =
                    std::clamp(wrapping_add(scaled(sum, c), zero_point), minimum, maximum);
                for (std::size_t byte = 0; byte < element_bytes; ++byte) {
                    out[row * out_stride(element_bytes) + c * element_bytes + byte] =
                        static_cast<std::uint8_t>(static_cast<std::uint32_t>(result) >> (8 * byte));
                }
            }
        }
        return out;
    }

    std::vector<std::uint8_t> computed(std::size_t element_bytes) const {
        auto out = empty_results(element_bytes);
        const DataType type = element_bytes == 1 ? DataType::Uint8 : DataType::Int16;
        requantize_rows(accumulators.data(), accumulator_stride, rows, columns, parameters(), type,
                        out.data(), out_stride(element_bytes));
        return out;
    }
};

RequantizeExample random_example(std::size_t rows, std::size_t columns, std::size_t stride,
                                 std::size_t gap_bytes, std::mt19937& random) {
    const auto any = [&random] { return static_cast<std::int32_t>(random()) >> random() % 32; };
    RequantizeExample example{.rows = rows,
                              .columns = columns,
                              .accumulator_stride = stride,
                              .gap_bytes = gap_bytes,
                              .accumulators = std::vector<std::int32_t>((rows - 1) * stride + columns),
                              .bias = std::vector<std::int32_t>(columns),
                              .multiplier = std::vector<std::int32_t>(columns),
                              .shift = std::vector<std::int8_t>(columns)};
    std::generate(example.accumulators.begin(), example.accumulators.end(), any);
    std::generate(example.bias.begin(), example.bias.end(), any);
    std::generate(example.multiplier.begin(), example.multiplier.end(), any);
    std::generate(example.shift.begin(), example.shift.end(),
                  [&random] { return static_cast<std::int8_t>(random() % 80 - 40); });
    example.zero_point = any() >> 16;
    example.minimum = any() >> 12;
    example.maximum = std::max(example.minimum, any() >> 12);
    return example;
}

}  // namespace

TEST_CASE("Requantized rows are their definition's, of any width and strides", "[hw][math][requantize]") {
    const auto seed = Catch::rngSeed();
    CAPTURE(seed);
    std::mt19937 random(seed);
    for (const std::size_t columns :
         {1U, 2U, 3U, 10U, 12U, 16U, 24U, 63U, 64U, 127U, 128U, 129U, 511U, 512U, 513U, 1100U}) {
        for (const std::size_t rows : {1U, 2U, 7U, 50U, 513U}) {
            for (const std::size_t gap : {0U, 1U, 30U}) {
                auto example = random_example(rows, columns, columns + gap, (gap * 3) % 7, random);
                CAPTURE(columns, rows, gap);
                example.half_to_even = gap == 1;
                REQUIRE(example.computed(1) == example.expected(1));
                REQUIRE(example.computed(2) == example.expected(2));
                for (const std::int32_t multiplier : example.multiplier) {
                    const double real = std::ldexp(multiplier, -static_cast<int>(random() % 60));
                    example.real_multiplier.push_back(random() % 50 == 0 ? std::nan("") : real);
                }
                example.multiplier.clear();
                example.shift.clear();
                REQUIRE(example.computed(1) == example.expected(1));
                REQUIRE(example.computed(2) == example.expected(2));
            }
        }
    }
}

TEST_CASE("A value gets bias, scale, zero point and clamp, in this order", "[hw][math][requantize]") {
    // 100 - 20 = 80, halved twice is 20, moved to 17.
    RequantizeExample example{.rows = 1,
                              .columns = 1,
                              .accumulator_stride = 1,
                              .accumulators = {100},
                              .bias = {-20},
                              .multiplier = {1 << 30},
                              .shift = {-1},
                              .zero_point = -3,
                              .minimum = -128,
                              .maximum = 127};
    CHECK(example.computed(1) == std::vector<std::uint8_t>{17});
    CHECK(example.computed(2) == std::vector<std::uint8_t>{17, 0});
    example.maximum = 16;
    CHECK(example.computed(1) == std::vector<std::uint8_t>{16});
    example.maximum = 127;
    example.minimum = 18;
    CHECK(example.computed(1) == std::vector<std::uint8_t>{18});
    example.minimum = -128;
    example.zero_point = -25;
    CHECK(example.computed(1) == std::vector<std::uint8_t>{0xFB});
    CHECK(example.computed(2) == std::vector<std::uint8_t>{0xFB, 0xFF});
}

TEST_CASE("Adding the bias and the zero point wraps around", "[hw][math][requantize]") {
    constexpr auto highest = std::numeric_limits<std::int32_t>::max();
    constexpr auto lowest = std::numeric_limits<std::int32_t>::min();
    RequantizeExample example{.rows = 1,
                              .columns = 1,
                              .accumulator_stride = 1,
                              .accumulators = {highest},
                              .bias = {1},
                              .multiplier = {1 << 30},
                              .shift = {0},
                              .minimum = lowest,
                              .maximum = highest};
    // lowest, halved, has two low bytes of 0; plus 5.
    example.zero_point = 5;
    CHECK(example.computed(2) == std::vector<std::uint8_t>{5, 0});
    // lowest / 2 + lowest = lowest / 2 modulo 2^32, which is positive: clamped to 255 from above.
    example.zero_point = lowest;
    example.maximum = 255;
    CHECK(example.computed(2) == std::vector<std::uint8_t>{255, 0});
}

TEST_CASE("Nothing is written for no rows or no columns", "[hw][math][requantize]") {
    const std::vector<std::int32_t> accumulators(4);
    std::vector<std::uint8_t> out(4, not_requantized);
    const std::vector<std::int32_t> ones(2, 1);
    const std::vector<std::int8_t> shifts(2, 0);
    requantize_rows(accumulators.data(), 2, 0, 2, {ones, ones, shifts}, DataType::Uint8, out.data(), 2);
    requantize_rows(accumulators.data(), 2, 2, 0, {}, DataType::Uint8, out.data(), 2);
    CHECK(out == std::vector<std::uint8_t>(4, not_requantized));
}

TEST_CASE("Results are integers of 8 or 16 bits", "[hw][math][requantize]") {
    const std::vector<std::int32_t> sums(1);
    const std::vector<std::int8_t> shifts(1);
    std::vector<std::uint8_t> out(4);
    const auto run = [&](DataType type) {
        requantize_rows(sums.data(), 1, 1, 1, {sums, sums, shifts}, type, out.data(), 4);
    };
    for (const DataType type : {DataType::Uint8, DataType::Int8, DataType::Uint16, DataType::Int16}) {
        CHECK_NOTHROW(run(type));
    }
    for (const DataType type : {DataType::Int32, DataType::Bfloat16, DataType::Float32}) {
        CHECK_THROWS_AS(run(type), std::logic_error);
    }
}

TEST_CASE("Parameters must cover all columns", "[hw][math][requantize]") {
    const std::vector<std::int32_t> three(3);
    const std::vector<std::int32_t> two(2);
    const std::vector<std::int8_t> three_shifts(3);
    const std::vector<std::int8_t> two_shifts(2);
    std::vector<std::uint8_t> out(3);
    const auto run = [&](const Requantization& parameters) {
        requantize_rows(three.data(), 3, 1, 3, parameters, DataType::Uint8, out.data(), 3);
    };
    CHECK_NOTHROW(run({three, three, three_shifts}));
    CHECK_THROWS_AS(run({two, three, three_shifts}), std::logic_error);
    CHECK_THROWS_AS(run({three, two, three_shifts}), std::logic_error);
    CHECK_THROWS_AS(run({three, three, two_shifts}), std::logic_error);
}
