#include "hw/math/floats/float_functions.h"

#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
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

/// The function in the system's library, with a wider significand.
long double exact(FloatFunction function, long double x) {
    switch (function) {
        case FloatFunction::Exp:
            return std::exp(x);
        case FloatFunction::Expm1:
            return std::expm1(x);
        case FloatFunction::Log:
            return std::log(x);
        case FloatFunction::Log1p:
            return std::log1p(x);
        case FloatFunction::Tanh:
            return std::tanh(x);
        case FloatFunction::Logistic:
            return 1.0L / (1.0L + std::exp(-x));
        case FloatFunction::Erf:
            return std::erf(x);
        case FloatFunction::Sqrt:
            return std::sqrt(x);
        case FloatFunction::Rsqrt:
            return 1.0L / std::sqrt(x);
    }
    throw std::logic_error("not a function");
}

/// The values near which a rounding may fall either way: those of an error of 2^-45.
bool is_nearest(float y, long double value) {
    const long double error = std::abs(value) * 0x1p-45L;
    const float low = settled(static_cast<float>(value - error));
    const float high = settled(static_cast<float>(value + error));
    return bits_of(y) == bits_of(low) || bits_of(y) == bits_of(high);
}

constexpr auto all = [] {
    std::array<FloatFunction, float_function_names.size()> functions{};
    for (std::size_t i = 0; i < functions.size(); ++i) functions[i] = static_cast<FloatFunction>(i);
    return functions;
}();

TEST_CASE("Functions are the nearest float32 to their values") {
    std::mt19937 random(5);
    const std::uint32_t runs = random_runs(20000);
    std::vector<float> in;
    for (std::uint32_t run = 0; run < runs; ++run) {
        const auto bits = static_cast<std::uint32_t>(random());
        // Half of them of any size, the others within the range in which functions bend.
        const std::uint32_t exponent = run % 2 == 0 ? bits >> 23 & 0xFF : 117 + (bits >> 23) % 17;
        const float x = settled(std::bit_cast<float>((bits & 0x807FFFFF) | exponent << 23));
        if (std::isfinite(x)) in.push_back(x);
    }
    for (const FloatFunction function : all) {
        const bool positive = function == FloatFunction::Log || function == FloatFunction::Sqrt ||
                              function == FloatFunction::Rsqrt;
        std::vector<float> out(in.size());
        apply(function, in, out);
        for (std::size_t i = 0; i < in.size(); ++i) {
            const float x = in[i];
            INFO(float_function_names.at(static_cast<std::size_t>(function))
                 << " of " << x << " is " << out[i]);
            if ((positive && x < 0.0F) || (function == FloatFunction::Log1p && x < -1.0F)) {
                REQUIRE(bits_of(out[i]) == float_nan_bits);
            } else {
                REQUIRE(is_nearest(out[i], exact(function, x)));
            }
        }
    }
}

TEST_CASE("Functions at their limits") {
    struct Limit {
        FloatFunction function;
        float x;
        float y;
    };
    using enum FloatFunction;
    const float largest = std::numeric_limits<float>::max();
    const Limit limits[] = {
        {Exp, float_infinity, float_infinity},
        {Exp, -float_infinity, 0.0F},
        {Exp, 0.0F, 1.0F},
        {Exp, 89.0F, float_infinity},
        {Exp, -87.4F, 0.0F},
        {Expm1, -float_infinity, -1.0F},
        {Expm1, -0.0F, -0.0F},
        {Log, 0.0F, -float_infinity},
        {Log, -0.0F, -float_infinity},
        {Log, float_infinity, float_infinity},
        {Log, 1.0F, 0.0F},
        {Log1p, -1.0F, -float_infinity},
        {Log1p, -0.0F, -0.0F},
        {Log1p, float_infinity, float_infinity},
        {Tanh, float_infinity, 1.0F},
        {Tanh, -float_infinity, -1.0F},
        {Tanh, -0.0F, -0.0F},
        {Tanh, largest, 1.0F},
        {Logistic, float_infinity, 1.0F},
        {Logistic, -float_infinity, 0.0F},
        {Logistic, 0.0F, 0.5F},
        {Erf, float_infinity, 1.0F},
        {Erf, -4.0F, -1.0F},
        {Erf, -0.0F, -0.0F},
        {Sqrt, float_infinity, float_infinity},
        {Sqrt, -0.0F, -0.0F},
        {Rsqrt, 0.0F, float_infinity},
        {Rsqrt, -0.0F, -float_infinity},
        {Rsqrt, float_infinity, 0.0F},
    };
    for (const Limit& limit : limits) {
        INFO(float_function_names.at(static_cast<std::size_t>(limit.function)) << " of " << limit.x);
        CHECK(bits_of(evaluate(limit.function, limit.x)) == bits_of(limit.y));
    }
    for (const FloatFunction function : all) {
        INFO(float_function_names.at(static_cast<std::size_t>(function)));
        CHECK(bits_of(evaluate(function, float_nan)) == float_nan_bits);
    }
}

TEST_CASE("A function's input and output have one size") {
    std::vector<float> in(3);
    std::vector<float> out(2);
    CHECK_THROWS_AS(apply(FloatFunction::Exp, in, out), std::logic_error);
}

}  // namespace
