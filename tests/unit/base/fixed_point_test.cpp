#include "base/fixed_point.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <iterator>
#include <limits>
#include <random>
#include <stdexcept>

namespace {

using namespace systole;

constexpr auto highest = std::numeric_limits<std::int32_t>::max();
constexpr auto lowest = std::numeric_limits<std::int32_t>::min();

/// As the gemmlowp paper's code defines it: a nudge by the sign, a division towards zero.
std::int32_t high_mul_by_definition(std::int32_t a, std::int32_t b) {
    if (a == lowest && b == lowest) return highest;
    const std::int64_t product = std::int64_t{a} * b;
    const std::int64_t nudge = product >= 0 ? std::int64_t{1} << 30 : 1 - (std::int64_t{1} << 30);
    return static_cast<std::int32_t>((product + nudge) / (std::int64_t{1} << 31));
}

std::int32_t divide_by_definition(std::int32_t x, int exponent) {
    return static_cast<std::int32_t>(std::round(std::ldexp(static_cast<double>(x), -exponent)));
}

}  // namespace

TEST_CASE("The high product rounds halves upwards and saturates once", "[hw][base][fixed_point]") {
    CHECK(saturating_rounding_doubling_high_mul(lowest, lowest) == highest);
    CHECK(saturating_rounding_doubling_high_mul(lowest, highest) == -highest);
    CHECK(saturating_rounding_doubling_high_mul(1 << 30, 1) == 1);
    CHECK(saturating_rounding_doubling_high_mul((1 << 30) - 1, 1) == 0);
    CHECK(saturating_rounding_doubling_high_mul(-(1 << 30), 1) == 0);
    CHECK(saturating_rounding_doubling_high_mul(-(1 << 30) - 1, 1) == -1);
    CHECK(saturating_rounding_doubling_high_mul(1000, 1 << 30) == 500);
}

TEST_CASE("The division rounds halves away from zero", "[hw][base][fixed_point]") {
    CHECK(rounding_divide_by_power_of_two(5, 1) == 3);
    CHECK(rounding_divide_by_power_of_two(-5, 1) == -3);
    CHECK(rounding_divide_by_power_of_two(5, 2) == 1);
    CHECK(rounding_divide_by_power_of_two(-6, 2) == -2);
    CHECK(rounding_divide_by_power_of_two(highest, 31) == 1);
    CHECK(rounding_divide_by_power_of_two(lowest, 31) == -1);
    CHECK(rounding_divide_by_power_of_two(lowest, 0) == lowest);
}

TEST_CASE("Both fixed-point functions agree with their definitions", "[hw][base][fixed_point]") {
    const auto seed = Catch::rngSeed();
    CAPTURE(seed);
    std::mt19937 random(seed);
    constexpr std::int32_t special[] = {lowest, lowest + 1, -(1 << 30),  -1,     0,
                                        1,      1 << 30,    highest - 1, highest};
    std::uniform_int_distribution<int> bits(0, 31);
    const auto number = [&] {
        if (bits(random) < 4) return special[random() % std::size(special)];
        return static_cast<std::int32_t>(random()) >> bits(random);
    };
    for (int i = 0; i < 100000; ++i) {
        const std::int32_t a = number();
        const std::int32_t b = number();
        const int exponent = bits(random);
        CAPTURE(a, b, exponent);
        const bool high_agrees = saturating_rounding_doubling_high_mul(a, b) == high_mul_by_definition(a, b);
        const bool quotient_agrees =
            rounding_divide_by_power_of_two(a, exponent) == divide_by_definition(a, exponent);
        REQUIRE((high_agrees && quotient_agrees));
    }
}

TEST_CASE("Shifts to the left come first and wrap around, shifts to the right last",
          "[hw][base][fixed_point]") {
    constexpr std::int32_t half = 1 << 30;
    CHECK(multiply_by_quantized_multiplier(100, half, 0) == 50);
    CHECK(multiply_by_quantized_multiplier(100, half, 3) == 400);
    CHECK(multiply_by_quantized_multiplier(100, half, -2) == 13);  // 12.5
    CHECK(multiply_by_quantized_multiplier(-100, half, -2) == -13);
    CHECK(multiply_by_quantized_multiplier(1 << 30, half, 1) == -(1 << 30));
    CHECK(multiply_by_quantized_multiplier(1 << 30, half, 2) == 0);
    // Rounded twice: 2.5 - 2^-31 becomes 3 before it is halved.
    CHECK(multiply_by_quantized_multiplier(5, half, -1) == 2);
    CHECK(multiply_by_quantized_multiplier(3, half, -2) == 1);
}

TEST_CASE("Shifts out of range count as 31 places", "[hw][base][fixed_point]") {
    constexpr std::int32_t nearly_one = highest;
    for (const std::int32_t shift : {32, 127, highest}) {
        CHECK(multiply_by_quantized_multiplier(3, nearly_one, shift) ==
              multiply_by_quantized_multiplier(3, nearly_one, 31));
    }
    for (const std::int32_t shift : {-32, -128, lowest}) {
        CHECK(multiply_by_quantized_multiplier(highest, nearly_one, shift) ==
              multiply_by_quantized_multiplier(highest, nearly_one, -31));
    }
    CHECK(multiply_by_quantized_multiplier(highest, nearly_one, -31) == 1);
}

TEST_CASE("Scales become the fixed-point numbers TFLite gives them", "[hw][base][fixed_point]") {
    CHECK(to_fixed_point(0.0) == FixedPoint{0, 0});
    CHECK(to_fixed_point(0.5) == FixedPoint{1 << 30, 0});
    CHECK(to_fixed_point(1.0) == FixedPoint{1 << 30, 1});
    CHECK(to_fixed_point(0.75) == FixedPoint{3 << 29, 0});
    CHECK(to_fixed_point(-0.75) == FixedPoint{-(3 << 29), 0});
    CHECK(to_fixed_point(1.0 - std::ldexp(1.0, -31)) == FixedPoint{highest, 0});
    CHECK(to_fixed_point(1.0 - std::ldexp(1.0, -33)) == FixedPoint{1 << 30, 1});
    CHECK(to_fixed_point(std::ldexp(1.0, -32)) == FixedPoint{1 << 30, -31});
    CHECK(to_fixed_point(std::ldexp(0.999, -32)) == FixedPoint{0, 0});
    CHECK(to_fixed_point(std::numeric_limits<double>::denorm_min()) == FixedPoint{0, 0});
    CHECK(to_fixed_point(std::nextafter(std::ldexp(1.0, 30), 0.0)) == FixedPoint{1 << 30, 31});
}

TEST_CASE("Fixed-point numbers are the nearest ones", "[hw][base][fixed_point]") {
    const auto seed = Catch::rngSeed();
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> exponent(-31.9, 29.9);
    for (int i = 0; i < 10000; ++i) {
        const double real = std::exp2(exponent(random));
        const FixedPoint fixed = to_fixed_point(real);
        CAPTURE(real, fixed.multiplier, fixed.shift);
        const double error = std::abs(std::ldexp(fixed.multiplier, fixed.shift - 31) - real);
        REQUIRE((fixed.multiplier >= 1 << 30 && error <= std::ldexp(0.5, fixed.shift - 31)));
    }
}

TEST_CASE("Scales without a fixed-point number are refused", "[hw][base][fixed_point]") {
    CHECK_THROWS_AS(to_fixed_point(std::ldexp(1.0, 30)), std::domain_error);
    CHECK_THROWS_AS(to_fixed_point(-std::ldexp(1.0, 30)), std::domain_error);
    CHECK_THROWS_AS(to_fixed_point(std::numeric_limits<double>::infinity()), std::domain_error);
    CHECK_THROWS_WITH(to_fixed_point(std::nan("")), "scale is nan; its magnitude must be below 2^30");
}

TEST_CASE("A product with a real multiplier is rounded once, halves away from zero",
          "[hw][base][fixed_point]") {
    CHECK(multiply_by_real(5, 0.5) == 3);
    CHECK(multiply_by_real(-5, 0.5) == -3);
    CHECK(multiply_by_real(3, 0.5) == 2);
    CHECK(multiply_by_real(1, std::nextafter(0.5, 0.0)) == 0);  // with a half added, it would be 1
    CHECK(multiply_by_real(-1, std::nextafter(0.5, 0.0)) == 0);
    CHECK(multiply_by_real(highest, 1.0) == highest);
    CHECK(multiply_by_real(lowest, 1.0) == lowest);
    // Results that no one defines.
    CHECK(multiply_by_real(highest, 2.0) == highest);
    CHECK(multiply_by_real(lowest, 2.0) == lowest);
    CHECK(multiply_by_real(3, std::numeric_limits<double>::infinity()) == highest);
    CHECK(multiply_by_real(-3, std::numeric_limits<double>::infinity()) == lowest);
    CHECK(multiply_by_real(0, std::numeric_limits<double>::infinity()) == lowest);
    CHECK(multiply_by_real(3, std::nan("")) == lowest);
}

TEST_CASE("Products with real multipliers are those of std::round", "[hw][base][fixed_point]") {
    const auto seed = Catch::rngSeed();
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> exponent(-31.9, 0.0);
    for (int i = 0; i < 100000; ++i) {
        const auto x = static_cast<std::int32_t>(random()) >> random() % 32;
        // Some multipliers give many halves.
        const double real = i % 2 == 0 ? std::exp2(exponent(random))
                                       : std::ldexp(1.0 + static_cast<double>(random() % 8),
                                                    -static_cast<int>(random() % 20) - 4);
        CAPTURE(x, real);
        REQUIRE(multiply_by_real(x, real) == static_cast<std::int32_t>(std::round(x * real)));
    }
}

TEST_CASE("Products of multiplier and shift are rounded once, halves to the even number",
          "[hw][base][fixed_point]") {
    constexpr std::int32_t half = 1 << 30;
    CHECK(multiply_to_even(1, half, 0) == 0);
    CHECK(multiply_to_even(3, half, 0) == 2);
    CHECK(multiply_to_even(-1, half, 0) == 0);
    CHECK(multiply_to_even(-3, half, 0) == -2);
    CHECK(multiply_to_even(3, half, -2) == 0);  // 0.375; rounded twice, it would be 1
    CHECK(multiply_to_even(7, half, 31) == (1 << 30) - 1);
    CHECK(multiply_to_even(-7, half, 31) == -(1 << 30));
    CHECK(multiply_to_even(highest, highest, 31) == (1 << 30) - 1);
    CHECK(multiply_to_even(lowest, lowest, 31) == (1 << 30) - 1);
    CHECK(multiply_to_even(lowest, highest, -31) == -1);
    CHECK(multiply_to_even(5, 1, 31) == 5);
    for (const std::int32_t shift : {32, 127, highest}) {
        CHECK(multiply_to_even(3, 5, shift) == multiply_to_even(3, 5, 31));
    }
    for (const std::int32_t shift : {-32, -128, lowest}) {
        CHECK(multiply_to_even(highest, highest, shift) == multiply_to_even(highest, highest, -31));
    }

    const auto seed = Catch::rngSeed();
    CAPTURE(seed);
    std::mt19937 random(seed);
    int halves = 0;
    for (int i = 0; i < 200'000; ++i) {
        const auto x = static_cast<std::int32_t>(random()) >> random() % 32;
        // Some multipliers give many halves.
        const std::int32_t multiplier =
            i % 2 == 0 ? static_cast<std::int32_t>(random()) : 1 << (22 + random() % 9);
        const auto shift = static_cast<std::int32_t>(random() % 62) - 31;
        // 63 bits of a product, of which long double (64 bits) loses none.
        const long double exact =
            std::ldexp(static_cast<long double>(std::int64_t{x} * multiplier), shift - 31);
        halves += std::abs(exact - std::trunc(exact)) == 0.5L ? 1 : 0;
        const long double expected = std::clamp(std::nearbyint(exact), -0x1p30L, 0x1p30L - 1.0L);
        CAPTURE(x, multiplier, shift);
        REQUIRE(multiply_to_even(x, multiplier, shift) == static_cast<std::int32_t>(expected));
    }
    CHECK(halves > 1000);
}

TEST_CASE("A product with a real multiplier may round halves to the even number", "[hw][base][fixed_point]") {
    CHECK(multiply_by_real_to_even(5, 0.5) == 2);
    CHECK(multiply_by_real_to_even(-5, 0.5) == -2);
    CHECK(multiply_by_real_to_even(3, 0.5) == 2);
    CHECK(multiply_by_real_to_even(1, std::nextafter(0.5F, 1.0F)) == 1);
    CHECK(multiply_by_real_to_even(1, std::nextafter(0.5F, 0.0F)) == 0);
    constexpr std::int32_t largest = (1 << 30) - 64;
    CHECK(multiply_by_real_to_even(highest, 1.0) == largest);
    CHECK(multiply_by_real_to_even(lowest, 1.0) == -(1 << 30));
    CHECK(multiply_by_real_to_even(3, std::numeric_limits<double>::infinity()) == largest);
    CHECK(multiply_by_real_to_even(3, std::nan("")) == -(1 << 30));
    // Halves of averages: 147 / 98 is 1.5, of which float64 would lose the last bit.
    REQUIRE(147 * (1.0 / 98.0) < 1.5);
    CHECK(multiply_by_real_to_even(147, 1.0 / 98.0) == 2);
    for (std::int32_t elements = 1; elements <= 400; ++elements) {
        for (std::int32_t sum = -2000; sum <= 2000; ++sum) {
            const std::int32_t below = (sum - (sum % elements + elements) % elements) / elements;
            const std::int32_t doubled_rest = 2 * (sum - below * elements);
            const bool goes_up = doubled_rest > elements || (doubled_rest == elements && (below & 1) != 0);
            CAPTURE(sum, elements);
            REQUIRE(multiply_by_real_to_even(sum, 1.0 / elements) == below + (goes_up ? 1 : 0));
        }
    }
}

TEST_CASE("A product with a float32 multiplier is rounded once, halves to the even number",
          "[hw][base][fixed_point]") {
    CHECK(multiply_by_float_to_even(1, std::nextafter(0.5F, 1.0F)) == 1);
    CHECK(multiply_by_float_to_even(1, std::nextafter(0.5F, 0.0F)) == 0);
    CHECK(multiply_by_float_to_even(-1, std::nextafter(0.5F, 1.0F)) == -1);
    CHECK(multiply_by_float_to_even(0, 3.0F) == 0);
    // The number becomes the nearest float32, halves even: 2^24 + 1 is 2^24, and 2^24 + 3 is 2^24 + 4.
    CHECK(multiply_by_float_to_even((1 << 24) + 1, 1.0F) == 1 << 24);
    CHECK(multiply_by_float_to_even((1 << 24) + 3, 1.0F) == (1 << 24) + 4);
    // So does the product: of 24 bits, 7 / 14 is the half that it is not in float64.
    REQUIRE(7 * double{1.0F / 14.0F} > 0.5);
    CHECK(multiply_by_float_to_even(7, 1.0F / 14.0F) == 0);
    constexpr std::int32_t largest = (1 << 30) - 64;
    CHECK(multiply_by_float_to_even(highest, 1.0F) == largest);
    CHECK(multiply_by_float_to_even(lowest, 1.0F) == -(1 << 30));
    CHECK(multiply_by_float_to_even(largest, 1.0F) == largest);
    CHECK(multiply_by_float_to_even(3, std::numeric_limits<float>::infinity()) == largest);
    CHECK(multiply_by_float_to_even(-3, std::numeric_limits<float>::infinity()) == -(1 << 30));
    CHECK(multiply_by_float_to_even(0, std::numeric_limits<float>::infinity()) == -(1 << 30));
    CHECK(multiply_by_float_to_even(3, std::nanf("")) == -(1 << 30));
    // All halves that float32 has: of magnitudes up to 2^23.
    for (std::int32_t odd = 1; odd < 1 << 24; odd += 2) {
        const std::int32_t below = odd / 2;
        const std::int32_t even = below + (below & 1);
        const bool is_even =
            multiply_by_float_to_even(odd, 0.5F) == even && multiply_by_float_to_even(-odd, 0.5F) == -even;
        if (!is_even) FAIL("half of " << odd);
    }
}

TEST_CASE("Products with float32 multipliers are those of std::nearbyint, clamped before or after",
          "[hw][base][fixed_point]") {
    const auto seed = Catch::rngSeed();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> exponent(-31.9F, 3.0F);
    int halves = 0;
    int clamped = 0;
    for (int i = 0; i < 500'000; ++i) {
        const auto x = static_cast<std::int32_t>(random()) >> random() % 32;
        // Some multipliers give many halves.
        const float multiplier = i % 2 == 0 ? std::exp2(exponent(random))
                                            : std::ldexp(1.0F + static_cast<float>(random() % 8),
                                                         -static_cast<int>(random() % 24) - 1);
        const float product = static_cast<float>(x) * multiplier;
        halves += std::abs(product - std::trunc(product)) == 0.5F ? 1 : 0;
        CAPTURE(x, multiplier);
        const float most = std::nextafter(0x1p30F, 0.0F);
        const float rounded = std::clamp(std::nearbyint(product), -0x1p30F, most);
        const std::int32_t result = multiply_by_float_to_even(x, multiplier);
        REQUIRE(result == static_cast<std::int32_t>(rounded));
        // The limits of a type of 8 bits, or numbers between, less the zero point.
        const std::int32_t zero_point = static_cast<std::int32_t>(random() % 256) - 128;
        const std::int32_t minimum = static_cast<std::int32_t>(random() % 128) - 128 - zero_point;
        const std::int32_t maximum = static_cast<std::int32_t>(random() % 128) - zero_point;
        const float limited = std::clamp(product, static_cast<float>(minimum), static_cast<float>(maximum));
        clamped += limited != product ? 1 : 0;
        REQUIRE(std::clamp(result, minimum, maximum) == static_cast<std::int32_t>(std::nearbyint(limited)));
    }
    CHECK(halves > 1000);
    CHECK(clamped > 1000);
}
