#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "hw/math/target_clones.h"

// Powers and cube roots of float32 in float64, without branches, by operations that IEEE 754 rounds
// correctly, and the series that they share with logarithms and exponentials.
namespace systole::math {

/// (e^r - 1) / r for |r| at most 0.5, by 15 terms of the series.
SYSTOLE_ALWAYS_INLINE double expm1_over(double r) {
    // 1 / n! for n = 15, 14, ..., 1
    constexpr std::array<double, 15> terms{
        1.0 / 1307674368000.0, 1.0 / 87178291200.0, 1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0,
        1.0 / 3628800.0,       1.0 / 362880.0,      1.0 / 40320.0,      1.0 / 5040.0,      1.0 / 720.0,
        1.0 / 120.0,           1.0 / 24.0,          1.0 / 6.0,          1.0 / 2.0,         1.0};
    double sum = 0.0;
    for (const double term : terms) sum = sum * r + term;
    return sum;
}

/// atanh(s) / s - 1 for |s| at most 0.172, by the series: 1 / (2n + 1) for n = 11, 10, ..., 1.
SYSTOLE_ALWAYS_INLINE double atanh_rest(double s) {
    constexpr std::array<double, 11> terms{1.0 / 23, 1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13,
                                           1.0 / 11, 1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3};
    const double square = s * s;
    double sum = 0.0;
    for (const double term : terms) sum = sum * square + term;
    return sum * square;
}

/// Within ±limit; a NaN stays.
SYSTOLE_ALWAYS_INLINE double limited(double x, double limit) {
    const double below = x > limit ? limit : x;
    return below < -limit ? -limit : below;
}

/// number * 2^exponent; the number is between the roots of 0.5 and of 2.
struct Scaled {
    double number;
    double exponent;
};

/// Of a normal, finite float64 above 0.
SYSTOLE_ALWAYS_INLINE Scaled scaled_of(double x) {
    constexpr double sqrt2 = 1.4142135623730951;
    const auto bits = std::bit_cast<std::uint64_t>(x);
    // The exponent's bits as the low ones of a float64: no conversion, for which some processors have no
    // vectors.
    constexpr double from_integer = 0x1p52;
    const double exponent = std::bit_cast<double>(std::bit_cast<std::uint64_t>(from_integer) | bits >> 52) -
                            (from_integer + 1023.0);
    const auto mantissa = std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFF) | 0x3FF0000000000000);  // 1 to 2
    const bool upper = mantissa > sqrt2;
    return {.number = upper ? 0.5 * mantissa : mantissa, .exponent = exponent + (upper ? 1.0 : 0.0)};
}

/// The first 28 bits of the significand: a product with a float32 has no rounding.
SYSTOLE_ALWAYS_INLINE double first_bits(double x) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0xFFFFFFFFFE000000);
}

/// Two numbers whose sum is the value; the second is smaller by 2^28 or more.
struct TwoParts {
    double first;  ///< of 28 bits
    double second;
};

/// log2 x of a float32 above 0, with a relative error below 2^-56: the power of a large exponent needs more
/// bits than a float64 has.
SYSTOLE_ALWAYS_INLINE TwoParts log2_of(double x) {
    // 2 / ln 2 in two parts.
    constexpr double high = 0x1.715476p+1;
    constexpr double low = 0x1.4ae0bf85ddf44p-25;
    const Scaled scaled = scaled_of(x);
    // (m - 1) / (m + 1) in two parts: the product of the first with the divisor is exact, and so is the rest.
    const double dividend = scaled.number - 1.0;
    const double divisor = scaled.number + 1.0;
    const double s = dividend / divisor;
    const auto first = std::bit_cast<double>(std::bit_cast<std::uint64_t>(s) & 0xFFFFFFFFFC000000);
    const double second = (dividend - first * divisor) / divisor;
    const double product = first * high;  // 27 bits times 26
    const double rest = first * low + (second + s * atanh_rest(s)) * (high + low);
    // The exponent is 0 or larger than the product, so that the sum loses what is computed here.
    const double sum = scaled.exponent + product;
    const double lost = product - (sum - scaled.exponent);
    // Put together again, for the first part to be that of the whole.
    const double whole = sum + (lost + rest);
    const double whole_lost = (lost + rest) - (whole - sum);
    const double most = first_bits(whole);
    return {.first = most, .second = (whole - most) + whole_lost};
}

/// |x|^y, of which x is not 0 and x and y are finite. Beyond float32, it is far below or above its numbers.
SYSTOLE_ALWAYS_INLINE double power_of_positive(double x, double y) {
    constexpr double to_integer = 0x1.8p52;  // leaves the nearest integer in the low bits of a sum
    constexpr double ln2 = 0.6931471805599453;
    constexpr double beyond = 400.0;
    const TwoParts log2 = log2_of(x);
    const double most = limited(y * log2.first, beyond);
    const double less = limited(y * log2.second, 1.0);
    const double shifted = most + to_integer;
    const double rest = ((most - (shifted - to_integer)) + less) * ln2;
    const auto power = std::bit_cast<double>((std::bit_cast<std::uint64_t>(shifted) + 1023) << 52);
    return (1.0 + rest * expm1_over(rest)) * power;
}

/// x^y, of all numbers as IEEE 754 says for pow.
SYSTOLE_ALWAYS_INLINE double power_of(double x, double y) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    constexpr double to_integer = 0x1.8p52;
    constexpr double all_even = 0x1p25;  // as all float32 from 2^24 on
    const double size = std::abs(x);
    const bool is_usual = size > 0.0 && size < infinity;
    // An infinite exponent acts as the largest one.
    const double exponent = limited(y, std::numeric_limits<float>::max());
    const double usual = power_of_positive(is_usual ? size : 1.0, exponent);
    const double end = (size > 0.0) == (y > 0.0) ? infinity : 0.0;
    const double number = is_usual ? usual : end;
    const double whole = limited(std::abs(y), all_even);
    const double shifted = whole + to_integer;
    const bool is_whole = shifted - to_integer == whole;
    const bool is_odd = is_whole && (std::bit_cast<std::uint64_t>(shifted) & 1) != 0;
    const double with_sign = is_odd ? std::copysign(number, x) : number;
    const bool is_number = x == x && y == y && (x >= 0.0 || size == infinity || is_whole);
    return x == 1.0 || y == 0.0 ? 1.0 : is_number ? with_sign : nan;
}

/// Of a float32.
SYSTOLE_ALWAYS_INLINE double cube_root_of(double x) {
    const double size = std::abs(x);
    // A third of the exponent and of the significand is within 6 % of the root.
    constexpr std::uint32_t middle = 0x2A5137A0;
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(size));
    double root = std::bit_cast<float>(bits / 3 + middle);
    // Each step leaves about the cube of the error.
    for (int step = 0; step < 3; ++step) {
        const double cube = root * root * root;
        root *= (cube + 2.0 * size) / (2.0 * cube + size);
    }
    const bool is_usual = size > 0.0 && size < std::numeric_limits<double>::infinity();
    return is_usual ? std::copysign(root, x) : x;
}

}  // namespace systole::math
