#include "hw/math/floats/float_values.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "tests/support/floats.h"
#include "tests/support/random_runs.h"

namespace {

using namespace systole;
using namespace systole::math;
using namespace systole::tests;

float of_bits(std::uint32_t bits) {
    return std::bit_cast<float>(bits);
}

TEST_CASE("A subnormal number settles as a zero of its sign, and every NaN as one") {
    CHECK(bits_of(settled(of_bits(0x00000001))) == 0);
    CHECK(bits_of(settled(of_bits(0x007FFFFF))) == 0);
    CHECK(bits_of(settled(of_bits(0x807FFFFF))) == 0x80000000);
    CHECK(settled(smallest_normal) == smallest_normal);
    CHECK(settled(-smallest_normal) == -smallest_normal);
    CHECK(settled(float_infinity) == float_infinity);
    for (const std::uint32_t nan : {0x7F800001U, 0x7FC00000U, 0xFFC00000U, 0xFFFFFFFFU}) {
        CHECK(bits_of(settled(of_bits(nan))) == float_nan_bits);
    }
}

TEST_CASE("bfloat16 is the nearest, halves to the even number") {
    CHECK(rounded_to_bfloat16(1.0F) == 1.0F);
    CHECK(rounded_to_bfloat16(of_bits(0x3F808000)) == 1.0F);                 // half: down to even
    CHECK(rounded_to_bfloat16(of_bits(0x3F808001)) == of_bits(0x3F810000));  // above half
    CHECK(rounded_to_bfloat16(of_bits(0x3F818000)) == of_bits(0x3F820000));  // half: up to even
    CHECK(rounded_to_bfloat16(of_bits(0x7F7FFFFF)) == float_infinity);
    CHECK(rounded_to_bfloat16(of_bits(0x7F7F7FFF)) == of_bits(0x7F7F0000));
    CHECK(rounded_to_bfloat16(-float_infinity) == -float_infinity);
    CHECK(bfloat16_bits(of_bits(0x007FFFFF)) == 0);  // settled before it is rounded
    CHECK(bfloat16_bits(of_bits(0xFF800001)) == 0x7FC0);
    CHECK(bits_of(float_of_bfloat16(0x0001)) == 0);
}

TEST_CASE("bfloat16 is nearer than its neighbours for random numbers") {
    std::mt19937 random(1);
    const std::uint32_t runs = random_runs(20000);
    for (std::uint32_t run = 0; run < runs; ++run) {
        const float x = of_bits(static_cast<std::uint32_t>(random()));
        if (!std::isfinite(x) || std::abs(x) < smallest_normal || std::abs(x) > 0x1p127F) continue;
        const std::uint16_t bits = bfloat16_bits(x);
        const auto distance = [&](int step) {
            const auto near = static_cast<std::uint16_t>(bits + step);
            return std::abs(double{x} - double{of_bits(std::uint32_t{near} << 16)});
        };
        INFO("x " << x);
        REQUIRE(distance(0) <= distance(1));
        REQUIRE(distance(0) <= distance(-1));
        if (distance(0) == distance(1) || distance(0) == distance(-1)) REQUIRE(bits % 2 == 0);
    }
}

/// The value of a float16 that is finite and not negative; one step behind the largest is 2^16.
float of_float16(std::uint32_t bits) {
    constexpr int fraction_bits = 10;
    constexpr std::uint32_t hidden = 1U << fraction_bits;
    const auto exponent = static_cast<int>(bits >> fraction_bits);
    const std::uint32_t fraction = bits % hidden;
    const auto number = static_cast<float>(exponent == 0 ? fraction : fraction | hidden);
    return std::ldexp(number, (exponent == 0 ? 1 : exponent) - 25);
}

TEST_CASE("float16 is the nearest, halves to the even number, also a subnormal one") {
    constexpr std::uint32_t numbers = 0x7C00;
    for (std::uint32_t bits = 0; bits < numbers; ++bits) {
        const float here = of_float16(bits);
        const float next = of_float16(bits + 1);
        const float above = bits + 1 == numbers ? float_infinity : next;
        const float half = here + (next - here) / 2;
        INFO(bits << ": " << here);
        for (const float sign : {1.0F, -1.0F}) {
            REQUIRE(bits_of(rounded_to_float16(sign * here)) == bits_of(sign * here));
            REQUIRE(rounded_to_float16(sign * std::nextafter(half, 0.0F)) == sign * here);
            REQUIRE(rounded_to_float16(sign * half) == sign * (bits % 2 == 0 ? here : above));
            REQUIRE(rounded_to_float16(sign * std::nextafter(half, 1e9F)) == sign * above);
        }
    }
    CHECK(bits_of(rounded_to_float16(-smallest_normal)) == bits_of(-0.0F));
    CHECK(rounded_to_float16(-std::numeric_limits<float>::max()) == -float_infinity);
    CHECK(rounded_to_float16(float_infinity) == float_infinity);
    CHECK(bits_of(rounded_to_float16(of_bits(0xFF800001))) == float_nan_bits);
}

}  // namespace
