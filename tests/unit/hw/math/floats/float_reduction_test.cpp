#include "hw/math/floats/float_reduction.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

#include "hw/math/floats/float_values.h"
#include "tests/support/floats.h"
#include "tests/support/random_runs.h"

namespace {

using namespace systole;
using namespace systole::math;
using namespace systole::tests;

/// The definition, by recursion: the upper half is taken into the lower one.
float by_halves(Reduction reduction, std::vector<float> numbers) {
    if (numbers.size() == 1) return numbers[0];
    std::size_t half = 1;
    while (half * 2 < numbers.size()) half *= 2;
    std::vector<float> lower(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(half));
    for (std::size_t i = half; i < numbers.size(); ++i) {
        lower[i - half] = combine(reduction, lower[i - half], numbers[i]);
    }
    return by_halves(reduction, lower);
}

TEST_CASE("Two numbers become one") {
    using enum Reduction;
    CHECK(combine(Sum, 1.0F, 2.0F) == 3.0F);
    CHECK(bits_of(combine(Sum, 0x1.8p-126F, -0x1p-126F)) == 0);  // 2^-127 settles
    CHECK(combine(Product, 3.0F, -2.0F) == -6.0F);
    CHECK(bits_of(combine(Product, 0x1p-100F, -0x1p-100F)) == 0x80000000);
    CHECK(combine(Maximum, 1.0F, 2.0F) == 2.0F);
    CHECK(combine(Minimum, 1.0F, 2.0F) == 1.0F);
    CHECK(bits_of(combine(Maximum, -0.0F, 0.0F)) == 0);
    CHECK(bits_of(combine(Maximum, 0.0F, -0.0F)) == 0);
    CHECK(bits_of(combine(Minimum, -0.0F, 0.0F)) == 0x80000000);
    CHECK(bits_of(combine(Minimum, 0.0F, -0.0F)) == 0x80000000);
    for (const Reduction reduction : {Sum, Product, Maximum, Minimum}) {
        CHECK(bits_of(combine(reduction, float_nan, 1.0F)) == float_nan_bits);
        CHECK(bits_of(combine(reduction, 1.0F, float_nan)) == float_nan_bits);
    }
}

TEST_CASE("Numbers are reduced in blocks, each by halves, whatever their strides") {
    std::mt19937 random(6);
    const std::uint32_t runs = random_runs(200);
    std::uint32_t differ = 0;
    for (std::uint32_t run = 0; run < runs; ++run) {
        const std::size_t count = random() % 400 + 1;
        const std::size_t columns = random() % 40 + 1;
        const bool by_column = random() % 2 == 0;
        ReductionInput input{.count = count, .columns = columns};
        input.stride = by_column ? 1 : columns + 2;
        input.column_stride = by_column ? count + 1 : 1;
        std::vector<float> data(count * input.stride + columns * input.column_stride);
        for (float& x : data) {
            const auto bits = static_cast<std::uint32_t>(random());
            x = std::bit_cast<float>((bits & 0x807FFFFF) | (120 + bits / 1024 % 10) << 23);
        }
        input.data = data.data();
        const auto reduction = static_cast<Reduction>(random() % reduction_names.size());
        std::vector<float> out(columns);
        reduce(reduction, input, out.data());
        for (std::size_t column = 0; column < columns; ++column) {
            float expected = 0.0F;
            float in_order = 0.0F;
            for (std::size_t first = 0; first < count; first += 128) {
                std::vector<float> block;
                for (std::size_t i = first; i < std::min(count, first + 128); ++i) {
                    block.push_back(data[i * input.stride + column * input.column_stride]);
                    in_order = i == 0 ? block.back() : combine(reduction, in_order, block.back());
                }
                const float reduced = by_halves(reduction, block);
                expected = first == 0 ? reduced : combine(reduction, expected, reduced);
            }
            INFO("run " << run << ", column " << column);
            REQUIRE(bits_of(out[column]) == bits_of(expected));
            if (reduction == Reduction::Sum) differ += bits_of(in_order) != bits_of(expected);
        }
    }
    CHECK(differ >= random_share(100));
}

TEST_CASE("A block has 1 to 128 numbers") {
    std::vector<float> data(200);
    float out = 0.0F;
    for (const std::size_t count : {0U, 129U}) {
        CHECK_THROWS_AS(reduce_block(Reduction::Sum, {data.data(), count, 1, 1, 1}, &out), std::logic_error);
    }
}

}  // namespace
