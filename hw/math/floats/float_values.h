#pragma once

#include <bit>
#include <cstdint>

#include "base/settled_word.h"

// The numbers of machines that compute in floats. Results are float32 of IEEE 754, rounded once to the
// nearest, halves to the even number, and then settled: a subnormal result is a zero of its sign, and there
// is one NaN. So the order of operations alone decides the bits, whatever the processor.
namespace systole::math {

/// The one NaN.
inline constexpr std::uint32_t float_nan_bits = settled_nan;
inline constexpr float float_nan = std::bit_cast<float>(float_nan_bits);
/// What is smaller in size is zero.
inline constexpr float smallest_normal = 0x1p-126F;

/// A result as it is stored: no subnormal number, and one NaN.
constexpr float settled(float x) {
    return std::bit_cast<float>(settled_word(std::bit_cast<std::uint32_t>(x)));
}

/// The larger of two settled numbers; NaN if one of them is. +0 is above -0: of two numbers that compare
/// equal, zeros are the only ones with different bits.
constexpr float larger_of(float a, float b) {
    const auto zero = std::bit_cast<float>(std::bit_cast<std::uint32_t>(a) & std::bit_cast<std::uint32_t>(b));
    const float number = a == b ? zero : a > b ? a : b;
    return a == a ? number : a;
}

/// The smaller of two settled numbers; NaN if one of them is. -0 is below +0.
constexpr float smaller_of(float a, float b) {
    const auto zero = std::bit_cast<float>(std::bit_cast<std::uint32_t>(a) | std::bit_cast<std::uint32_t>(b));
    const float number = a == b ? zero : a < b ? a : b;
    return a == a ? number : a;
}

/// The bits of the nearest bfloat16, halves to the even number. Beyond the largest one follows infinity.
constexpr std::uint16_t bfloat16_bits(float x) {
    // The one NaN has zeros in its lower half, so it stays.
    const auto bits = std::bit_cast<std::uint32_t>(settled(x));
    return static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

constexpr float float_of_bfloat16(std::uint16_t bits) {
    return settled(std::bit_cast<float>(std::uint32_t{bits} << 16));
}

/// The nearest float16 as a float32, halves to the even number. Its subnormal numbers are normal ones of
/// float32, so they stay. Beyond the largest one follows infinity.
constexpr float rounded_to_float16(float x) {
    constexpr std::uint32_t sign = 0x80000000;
    constexpr std::uint32_t lost_bits = 13;
    constexpr float smallest = 0x1p-14F;  // normal float16
    constexpr float too_large = 0x1p16F;
    constexpr float of_same_last_bit = 0.5F;  // as the subnormal float16
    const auto bits = std::bit_cast<std::uint32_t>(x) & ~sign;
    const auto size = std::bit_cast<float>(bits);
    const std::uint32_t even = bits + 0xFFF + (bits >> lost_bits & 1);
    const auto rounded = std::bit_cast<float>(even >> lost_bits << lost_bits);
    const float normal = rounded < too_large ? rounded : std::bit_cast<float>(0x7F800000U);
    const float number = size < smallest ? (size + of_same_last_bit) - of_same_last_bit : normal;
    const std::uint32_t signed_bits =
        std::bit_cast<std::uint32_t>(number) | (std::bit_cast<std::uint32_t>(x) & sign);
    return x == x ? std::bit_cast<float>(signed_bits) : float_nan;
}

/// The bits of the nearest float16.
constexpr std::uint16_t float16_bits(float x) {
    constexpr std::uint32_t lost_bits = 13;
    constexpr std::uint32_t smallest = 0x38800000;  // normal float16, as a float32
    constexpr std::uint32_t rebias = 0x1C000;       // of exponents, at the place of a float16's
    const auto bits = std::bit_cast<std::uint32_t>(rounded_to_float16(x));
    const std::uint32_t size = bits & 0x7FFFFFFF;
    std::uint32_t number = (size >> lost_bits) - rebias;
    if (size < smallest) number = static_cast<std::uint32_t>(std::bit_cast<float>(size) * 0x1p24F);
    if (size >= 0x7F800000) number = size > 0x7F800000 ? 0x7E00 : 0x7C00;
    return static_cast<std::uint16_t>(number | (bits >> 16 & 0x8000));
}

/// A float16 as the float32 that it is; all NaN become the one.
constexpr float float_of_float16(std::uint16_t bits) {
    constexpr std::uint32_t lost_bits = 13;
    constexpr std::uint32_t rebias = 0x38000000;
    const std::uint32_t size = bits & 0x7FFF;
    auto number = std::bit_cast<float>((size << lost_bits) + rebias);
    if (size < 0x400) number = static_cast<float>(size) * 0x1p-24F;
    if (size >= 0x7C00) number = size > 0x7C00 ? float_nan : std::bit_cast<float>(0x7F800000U);
    return size <= 0x7C00 && (bits & 0x8000) != 0 ? -number : number;
}

/// The nearest bfloat16 as a float32.
constexpr float rounded_to_bfloat16(float x) {
    return std::bit_cast<float>(std::uint32_t{bfloat16_bits(x)} << 16);
}

}  // namespace systole::math
