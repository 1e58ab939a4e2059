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

}  // namespace
