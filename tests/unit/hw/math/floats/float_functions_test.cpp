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
#include "tests/support/nearest.h"
#include "tests/support/random_runs.h"

namespace {

using namespace systole;
using namespace systole::math;
using namespace systole::tests;

/// The function in the system's library, with a wider significand.
long double exact(WordOperation function, long double x) {
    switch (function) {
        case WordOperation::Exp:
            return std::exp(x);
        case WordOperation::Expm1:
            return std::expm1(x);
        case WordOperation::Log:
            return std::log(x);
        case WordOperation::Log1p:
            return std::log1p(x);
        case WordOperation::Tanh:
            return std::tanh(x);
        case WordOperation::Logistic:
            return 1.0L / (1.0L + std::exp(-x));
        case WordOperation::Erf:
            return std::erf(x);
        case WordOperation::Sqrt:
            return std::sqrt(x);
        case WordOperation::Rsqrt:
            return 1.0L / std::sqrt(x);
        case WordOperation::Sine:
            return std::sin(x);
        case WordOperation::Cosine:
            return std::cos(x);
        case WordOperation::Tangent:
            return std::tan(x);
        case WordOperation::CubeRoot:
            return std::cbrt(x);
        default:
            break;
    }
    throw std::logic_error("not a function");
}

constexpr auto all = [] {
    using enum WordOperation;
    return std::array{Exp,  Expm1, Log,  Log1p,  Tanh,    Logistic, Erf,
                      Sqrt, Rsqrt, Sine, Cosine, Tangent, CubeRoot};
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
    for (const WordOperation function : all) {
        const bool positive = function == WordOperation::Log || function == WordOperation::Sqrt ||
                              function == WordOperation::Rsqrt;
        std::vector<float> out(in.size());
        apply_function(function, in, out);
        for (std::size_t i = 0; i < in.size(); ++i) {
            const float x = in[i];
            INFO(traits_of(function).name << " of " << x << " is " << out[i]);
            if ((positive && x < 0.0F) || (function == WordOperation::Log1p && x < -1.0F)) {
                REQUIRE(bits_of(out[i]) == float_nan_bits);
            } else {
                REQUIRE(is_nearest(out[i], exact(function, x)));
            }
        }
    }
}

TEST_CASE("Functions at their limits") {
    struct Limit {
        WordOperation function;
        float x;
        float y;
    };
    using enum WordOperation;
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
        {Sine, -0.0F, -0.0F},
        {Sine, float_infinity, float_nan},
        {Cosine, -float_infinity, float_nan},
        {Cosine, -0.0F, 1.0F},
        {Tangent, -0.0F, -0.0F},
        {Tangent, -float_infinity, float_nan},
        {CubeRoot, -0.0F, -0.0F},
        {CubeRoot, 0.0F, 0.0F},
        {CubeRoot, -float_infinity, -float_infinity},
        {CubeRoot, -27.0F, -3.0F},
        {CubeRoot, 0x1p-126F, 0x1p-42F},
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
        INFO(traits_of(limit.function).name << " of " << limit.x);
        CHECK(bits_of(evaluate(limit.function, limit.x)) == bits_of(limit.y));
    }
    for (const WordOperation function : all) {
        INFO(traits_of(function).name);
        CHECK(bits_of(evaluate(function, float_nan)) == float_nan_bits);
    }
}

TEST_CASE("A function's input and output have one size") {
    std::vector<float> in(3);
    std::vector<float> out(2);
    CHECK_THROWS_AS(apply_function(WordOperation::Exp, in, out), std::logic_error);
}

}  // namespace
