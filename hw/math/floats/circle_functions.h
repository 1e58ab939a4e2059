#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "hw/math/target_clones.h"

// Sine, cosine, tangent and arc tangent of float32 in float64, without branches, by operations that IEEE 754
// rounds correctly: the quarter of the circle and the angle within it come from products with 2 / pi that
// have no rounding.
namespace systole::math {

/// (2^exponent * 2 / pi) modulo 4, in four parts of 28 bits, the first down to 2^-26: the product of each
/// with the 24 bits of a float32 is exact.
using QuarterTurns = std::array<double, 4>;

/// For the exponents of the last bits of float32 from 0.5 to the largest, -24 to 104.
inline constexpr std::uint32_t first_turned_exponent = 126;  ///< as float32 has it, with its bias
inline constexpr auto quarter_turns = [] {
    // 2 / pi, the first 224 bits behind the point.
    constexpr std::array<std::uint32_t, 7> two_over_pi{0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0,
                                                       0xDB629599, 0x3C439041, 0xFE5163AB};
    const auto bit_of_weight = [&](int power) -> std::uint64_t {  // the weight is 2^-power
        constexpr int bits = 32;
        if (power < 1) return 0;
        return two_over_pi.at(static_cast<std::size_t>((power - 1) / bits)) >>
                   (bits - 1 - (power - 1) % bits) &
               1;
    };
    constexpr int part_bits = 28;
    std::array<QuarterTurns, 129> all{};
    int exponent = -24;
    for (QuarterTurns& turns : all) {
        int weight = 1;  // of a part's first bit, 2^weight; what weighs more is a number of whole circles
        double last = 0x1p-26;
        for (double& part : turns) {
            std::uint64_t bits = 0;
            for (int i = 0; i < part_bits; ++i) bits = bits << 1 | bit_of_weight(exponent - weight + i);
            part = static_cast<double>(bits) * last;
            weight -= part_bits;
            last *= 0x1p-28;
        }
        ++exponent;
    }
    return all;
}();

/// x is `quarter` quarters of a circle, modulo 4, and `rest` more, which is at most pi / 4 in size.
struct Angle {
    double rest;
    std::uint64_t quarter;
};

/// Of the size of a finite float32.
SYSTOLE_ALWAYS_INLINE Angle angle_of(float size) {
    constexpr std::uint32_t mantissa = 0x007FFFFF;
    constexpr std::uint32_t last_exponent = 254;
    constexpr double half_pi = 1.5707963267948966;
    // Adding this number leaves the nearest integer in the low bits of the sum.
    constexpr double to_integer = 0x1.8p52;
    const auto bits = std::bit_cast<std::uint32_t>(size);
    const std::uint32_t exponent = bits >> 23;
    const std::uint32_t above = exponent < first_turned_exponent ? first_turned_exponent : exponent;
    const QuarterTurns& turns =
        quarter_turns[(above < last_exponent ? above : last_exponent) - first_turned_exponent];
    const auto number = static_cast<double>((bits & mantissa) | (mantissa + 1));
    const double most = number * turns[0];
    const double circles = (most * 0.25 + to_integer) - to_integer;
    const double inside = most - 4.0 * circles;
    const double next = number * turns[1];
    const double shifted = (inside + next) + to_integer;
    // The first two sums are exact, so nothing is lost where they cancel.
    const double rest = (((inside - (shifted - to_integer)) + next) + number * turns[2]) + number * turns[3];
    constexpr float within_eighth = 0.785F;  // pi / 4, rounded down
    const bool is_turned = size > within_eighth;
    return {.rest = is_turned ? rest * half_pi : static_cast<double>(size),
            .quarter = is_turned ? std::bit_cast<std::uint64_t>(shifted) : 0};
}

/// sin or cos by their series, 1 / n! for n = 19, 17, ... and 20, 18, ...
SYSTOLE_ALWAYS_INLINE double sine_series(double rest) {
    constexpr std::array<double, 10> terms{-1.0 / 121645100408832000.0,
                                           1.0 / 355687428096000.0,
                                           -1.0 / 1307674368000.0,
                                           1.0 / 6227020800.0,
                                           -1.0 / 39916800.0,
                                           1.0 / 362880.0,
                                           -1.0 / 5040.0,
                                           1.0 / 120.0,
                                           -1.0 / 6.0,
                                           1.0};
    const double square = rest * rest;
    double sum = 0.0;
    for (const double term : terms) sum = sum * square + term;
    return sum * rest;
}

SYSTOLE_ALWAYS_INLINE double cosine_series(double rest) {
    constexpr std::array<double, 11> terms{1.0 / 2432902008176640000.0,
                                           -1.0 / 6402373705728000.0,
                                           1.0 / 20922789888000.0,
                                           -1.0 / 87178291200.0,
                                           1.0 / 479001600.0,
                                           -1.0 / 3628800.0,
                                           1.0 / 40320.0,
                                           -1.0 / 720.0,
                                           1.0 / 24.0,
                                           -1.0 / 2.0,
                                           1.0};
    const double square = rest * rest;
    double sum = 0.0;
    for (const double term : terms) sum = sum * square + term;
    return sum;
}

/// The sine of the angle and of `quarters` more.
SYSTOLE_ALWAYS_INLINE double sine_of(Angle angle, std::uint64_t quarters) {
    const std::uint64_t quarter = angle.quarter + quarters;
    const double value = (quarter & 1) != 0 ? cosine_series(angle.rest) : sine_series(angle.rest);
    return (quarter & 2) != 0 ? -value : value;
}

/// NaN of what is not finite.
SYSTOLE_ALWAYS_INLINE double of_finite(double x, double value) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    return std::abs(x) < infinity ? value : std::numeric_limits<double>::quiet_NaN();
}

SYSTOLE_ALWAYS_INLINE double sine_of(double x) {
    const double value = sine_of(angle_of(static_cast<float>(std::abs(x))), 0);
    return of_finite(x, std::copysign(1.0, x) * value);
}

SYSTOLE_ALWAYS_INLINE double cosine_of(double x) {
    return of_finite(x, sine_of(angle_of(static_cast<float>(std::abs(x))), 1));
}

SYSTOLE_ALWAYS_INLINE double tangent_of(double x) {
    const Angle angle = angle_of(static_cast<float>(std::abs(x)));
    const double sine = sine_series(angle.rest);
    const double cosine = cosine_series(angle.rest);
    const bool is_odd = (angle.quarter & 1) != 0;
    const double value = (is_odd ? -cosine : sine) / (is_odd ? sine : cosine);
    return of_finite(x, std::copysign(1.0, x) * value);
}

/// The arc tangent of what is at most tan(pi / 8) in size, by its series: (-1)^n / (2n + 1) for n = 18, 17,
/// ...
SYSTOLE_ALWAYS_INLINE double arc_tangent_series(double x) {
    constexpr std::array<double, 19> terms{1.0 / 37,  -1.0 / 35, 1.0 / 33,  -1.0 / 31, 1.0 / 29,
                                           -1.0 / 27, 1.0 / 25,  -1.0 / 23, 1.0 / 21,  -1.0 / 19,
                                           1.0 / 17,  -1.0 / 15, 1.0 / 13,  -1.0 / 11, 1.0 / 9,
                                           -1.0 / 7,  1.0 / 5,   -1.0 / 3,  1.0};
    const double square = x * x;
    double sum = 0.0;
    for (const double term : terms) sum = sum * square + term;
    return sum * x;
}

/// The angle of the point (x, y), from -pi to pi; zeros and infinities as IEEE 754 says for atan2.
SYSTOLE_ALWAYS_INLINE double arc_tangent_of(double y, double x) {
    constexpr double pi = 3.141592653589793;
    constexpr double tan_of_eighth = 0.41421356237309503;  // of pi / 8
    const double across = std::abs(x);
    const double up = std::abs(y);
    const bool is_steep = up > across;
    const double low = is_steep ? across : up;
    const double high = is_steep ? up : across;
    // Two zeros have no angle but that of their signs; two infinities are alike.
    const double ratio = high == 0.0 ? 0.0 : low == high ? 1.0 : low / high;
    const bool is_turned = ratio > tan_of_eighth;
    const double turned = (ratio - 1.0) / (ratio + 1.0);  // the tangent of an angle smaller by pi / 4
    const double eighth = arc_tangent_series(is_turned ? turned : ratio) + (is_turned ? pi / 4.0 : 0.0);
    const double quarter = is_steep ? pi / 2.0 - eighth : eighth;
    const double half = std::signbit(x) ? pi - quarter : quarter;
    const bool is_number = x == x && y == y;
    return is_number ? std::copysign(half, y) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace systole::math
