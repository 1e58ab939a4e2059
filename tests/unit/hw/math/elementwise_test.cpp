#include "hw/math/elementwise.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace {

using namespace systole;
using namespace systole::math;

std::int32_t value(std::uint8_t bits, bool is_signed) {
    return is_signed ? static_cast<std::int8_t>(bits) : static_cast<std::int32_t>(bits);
}

std::int32_t scaled(std::int32_t x, const FixedPoint& by, const Elementwise& p) {
    return p.half_to_even ? multiply_to_even(x, by.multiplier, by.shift)
                          : multiply_by_quantized_multiplier(x, by.multiplier, by.shift);
}

std::uint8_t finish(std::int32_t x, const Elementwise& p) {
    return static_cast<std::uint8_t>(
        std::clamp(wrapping_add(scaled(x, p.scale, p), p.zero_point), p.minimum, p.maximum));
}

std::uint8_t sum(std::uint8_t a, std::uint8_t b, const Elementwise& p) {
    const std::int32_t x = wrapping_subtract(value(a, is_signed(p.elements)), p.zero_point_a);
    const std::int32_t y = wrapping_subtract(value(b, is_signed(p.elements)), p.zero_point_b);
    return finish(wrapping_add(scaled(wrapping_multiply(x, 1 << 20), p.scale_a, p),
                               scaled(wrapping_multiply(y, 1 << 20), p.scale_b, p)),
                  p);
}

std::uint8_t product(std::uint8_t a, std::uint8_t b, const Elementwise& p) {
    const std::int32_t x = wrapping_subtract(value(a, is_signed(p.elements)), p.zero_point_a);
    const std::int32_t y = wrapping_subtract(value(b, is_signed(p.elements)), p.zero_point_b);
    return finish(wrapping_multiply(x, y), p);
}

/// All pairs of bytes.
struct Pairs {
    std::vector<std::uint8_t> a;
    std::vector<std::uint8_t> b;

    Pairs() {
        for (int i = 0; i < 65536; ++i) {
            a.push_back(static_cast<std::uint8_t>(i));
            b.push_back(static_cast<std::uint8_t>(i >> 8));
        }
    }
};

/// Scales as TFLite prepares them for an addition.
Elementwise addition(double scale_a, double scale_b, double scale_out) {
    const double twice_larger = 2.0 * std::max(scale_a, scale_b);
    Elementwise parameters;
    parameters.scale_a = to_fixed_point(scale_a / twice_larger);
    parameters.scale_b = to_fixed_point(scale_b / twice_larger);
    parameters.scale =
        to_fixed_point(twice_larger / (std::ldexp(1.0, addition_left_shift_8_bit) * scale_out));
    return parameters;
}

}  // namespace

TEST_CASE("Element-wise results are their definition's, for any parameters", "[hw][math][elementwise]") {
    const auto seed = Catch::rngSeed();
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto any = [&random] { return static_cast<std::int32_t>(random()) >> random() % 32; };
    const auto scale = [&] { return FixedPoint{any(), static_cast<std::int32_t>(random() % 80) - 40}; };
    for (int i = 0; i < 2000; ++i) {
        Elementwise parameters{.zero_point_a = any(),
                               .zero_point_b = any(),
                               .scale_a = scale(),
                               .scale_b = scale(),
                               .scale = scale(),
                               .zero_point = any(),
                               .minimum = any() >> 20,
                               .maximum = 0,
                               .elements = i % 2 == 1 ? DataType::Int8 : DataType::Uint8,
                               .half_to_even = i % 4 >= 2};
        parameters.maximum = std::max(parameters.minimum, any() >> 20);
        std::vector<std::uint8_t> a(random() % 200);
        std::vector<std::uint8_t> b(a.size());
        for (auto& byte : a) byte = static_cast<std::uint8_t>(random());
        for (auto& byte : b) byte = static_cast<std::uint8_t>(random());
        std::vector<std::uint8_t> sums(a.size());
        std::vector<std::uint8_t> products(a.size());
        add(a, b, parameters, sums);
        multiply(a, b, parameters, products);
        for (std::size_t e = 0; e < a.size(); ++e) {
            CAPTURE(i, e);
            const bool same =
                sums[e] == sum(a[e], b[e], parameters) && products[e] == product(a[e], b[e], parameters);
            if (!same) FAIL("element differs");
        }
    }
}

TEST_CASE("An addition is right to the nearest stored value", "[hw][math][elementwise]") {
    const Pairs pairs;
    const bool is_signed = GENERATE(false, true);
    constexpr double scale_a = 0.05;
    constexpr double scale_b = 0.013;
    constexpr double scale_out = 0.06;
    Elementwise parameters = addition(scale_a, scale_b, scale_out);
    parameters.zero_point_a = is_signed ? -5 : 120;
    parameters.zero_point_b = is_signed ? 7 : 131;
    parameters.zero_point = is_signed ? 3 : 128;
    parameters.elements = is_signed ? DataType::Int8 : DataType::Uint8;
    parameters.minimum = is_signed ? -128 : 0;
    parameters.maximum = is_signed ? 127 : 255;
    std::vector<std::uint8_t> out(pairs.a.size());
    add(pairs.a, pairs.b, parameters, out);
    double worst = 0.0;
    for (std::size_t i = 0; i < out.size(); ++i) {
        const double real = scale_a * (value(pairs.a[i], is_signed) - parameters.zero_point_a) +
                            scale_b * (value(pairs.b[i], is_signed) - parameters.zero_point_b);
        const double ideal =
            std::clamp(real / scale_out + parameters.zero_point, static_cast<double>(parameters.minimum),
                       static_cast<double>(parameters.maximum));
        worst = std::max(worst, std::abs(value(out[i], is_signed) - ideal));
    }
    CHECK(worst <= 0.501);
    CHECK(worst > 0.49);
}

TEST_CASE("A multiplication is right to the nearest stored value", "[hw][math][elementwise]") {
    const Pairs pairs;
    constexpr double scale = 0.0077;
    Elementwise parameters;
    parameters.zero_point_a = 100;
    parameters.zero_point_b = 140;
    parameters.zero_point = 128;
    parameters.scale = to_fixed_point(scale);
    std::vector<std::uint8_t> out(pairs.a.size());
    multiply(pairs.a, pairs.b, parameters, out);
    double worst = 0.0;
    for (std::size_t i = 0; i < out.size(); ++i) {
        const double ideal = std::clamp(scale * (pairs.a[i] - 100) * (pairs.b[i] - 140) + 128, 0.0, 255.0);
        worst = std::max(worst, std::abs(out[i] - ideal));
    }
    // Rounded twice: before the shift to the right and after it.
    REQUIRE(parameters.scale.shift < 0);
    CHECK(worst <= 0.5 + std::ldexp(0.5, parameters.scale.shift));
    CHECK(worst > 0.5);
}

namespace {

/// 16-bit elements as bytes, and back.
std::vector<std::uint8_t> bytes_of(const std::vector<std::int16_t>& elements) {
    std::vector<std::uint8_t> bytes;
    for (const std::int16_t element : elements) {
        bytes.push_back(static_cast<std::uint8_t>(element));
        bytes.push_back(static_cast<std::uint8_t>(element >> 8));
    }
    return bytes;
}

std::int32_t element(const std::vector<std::uint8_t>& bytes, std::size_t i) {
    return static_cast<std::int16_t>(bytes[2 * i] + 256 * bytes[2 * i + 1]);
}

std::vector<std::int16_t> random_elements(unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::int16_t> elements{-32768, 32767, -32768, 32767, 0, -1};
    while (elements.size() < 5001) elements.push_back(static_cast<std::int16_t>(random()));
    return elements;
}

}  // namespace

TEST_CASE("16-bit sums and products are right to the nearest stored value", "[hw][math][elementwise]") {
    constexpr double scale_a = 0.0005;
    constexpr double scale_b = 0.00013;
    constexpr double scale_sum = 0.0006;
    const std::vector<std::int16_t> a = random_elements(1);
    std::vector<std::int16_t> b = random_elements(2);
    std::swap(b[1], b[2]);
    Elementwise parameters;
    parameters.elements = DataType::Int16;
    parameters.minimum = -32768;
    parameters.maximum = 32767;
    const double common = 2 * scale_a;
    parameters.scale_a = to_fixed_point(scale_a / common);
    parameters.scale_b = to_fixed_point(scale_b / common);
    parameters.scale = to_fixed_point(std::ldexp(common, -addition_left_shift_16_bit) / scale_sum);
    std::vector<std::uint8_t> sums(2 * a.size());
    add(bytes_of(a), bytes_of(b), parameters, sums);
    std::vector<std::uint8_t> products(2 * a.size());
    constexpr double scale_product = 0.000031;
    parameters.scale = to_fixed_point(scale_product);
    multiply(bytes_of(a), bytes_of(b), parameters, products);
    double worst_sum = 0.0;
    double worst_product = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double sum = std::clamp((scale_a * a[i] + scale_b * b[i]) / scale_sum, -32768.0, 32767.0);
        const double product = std::clamp(scale_product * a[i] * b[i], -32768.0, 32767.0);
        worst_sum = std::max(worst_sum, std::abs(element(sums, i) - sum));
        worst_product = std::max(worst_product, std::abs(element(products, i) - product));
    }
    CHECK(worst_sum <= 0.501);
    CHECK(worst_sum > 0.49);
    CHECK(worst_product <= 0.501);
    CHECK(worst_product > 0.49);
}

TEST_CASE("An odd last byte of 16-bit elements stays, at any alignment", "[hw][math][elementwise]") {
    const std::vector<std::uint8_t> a{9, 1, 0, 2, 0, 77};
    const std::vector<std::uint8_t> b{9, 3, 0, 0, 1, 77};
    Elementwise parameters;
    parameters.elements = DataType::Int16;
    parameters.maximum = 32767;
    parameters.scale = to_fixed_point(1.0);
    std::vector<std::uint8_t> out{5, 5, 5, 5, 5};
    multiply(std::span(a).subspan(1), std::span(b).subspan(1), parameters, out);
    CHECK(out == std::vector<std::uint8_t>{3, 0, 0, 2, 5});
    CHECK_THROWS_AS(multiply(a, b, parameters, out), std::logic_error);
    CHECK_THROWS_AS(add(a, b, parameters, out), std::logic_error);
}

TEST_CASE("Results may replace an operand", "[hw][math][elementwise]") {
    const Pairs pairs;
    Elementwise parameters = addition(0.1, 0.2, 0.3);
    std::vector<std::uint8_t> expected(pairs.a.size());
    add(pairs.a, pairs.b, parameters, expected);
    std::vector<std::uint8_t> a = pairs.a;
    add(a, pairs.b, parameters, a);
    CHECK(a == expected);
    std::vector<std::uint8_t> b = pairs.b;
    add(pairs.a, b, parameters, b);
    CHECK(b == expected);
}

TEST_CASE("Operands and results must have the same size", "[hw][math][elementwise]") {
    const std::vector<std::uint8_t> three(3);
    const std::vector<std::uint8_t> two(2);
    std::vector<std::uint8_t> out(3);
    CHECK_NOTHROW(add(three, three, {}, out));
    CHECK_THROWS_AS(add(two, three, {}, out), std::logic_error);
    CHECK_THROWS_AS(add(three, two, {}, out), std::logic_error);
    CHECK_THROWS_AS(multiply(two, two, {}, out), std::logic_error);
}
