#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

// The fixed-point arithmetic of gemmlowp and TFLite, bit for bit where they define a result. Results that
// they leave undefined (overflows, shifts out of range) are defined here. The functions are always inlined:
// hw/math compiles its loops once for each instruction set, and each version needs its own copy.

namespace systole {

/// Real scale = multiplier / 2^31 * 2^shift.
struct FixedPoint {
    std::int32_t multiplier = 0;  ///< Q31; of `to_fixed_point`, 2^30 or more in magnitude, or 0
    std::int32_t shift = 0;       ///< positive to the left; -31 .. 31

    bool operator==(const FixedPoint&) const = default;
};

/// The nearest fixed-point number, as TFLite's QuantizeMultiplier: scales below 2^-32 become 0.
/// Throws std::domain_error unless |real| is finite and below 2^30.
FixedPoint to_fixed_point(double real);

inline constexpr std::int32_t shift_limit = 31;

[[gnu::always_inline]] inline std::int32_t wrapping_add(std::int32_t a, std::int32_t b) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}

[[gnu::always_inline]] inline std::int32_t wrapping_subtract(std::int32_t a, std::int32_t b) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b));
}

[[gnu::always_inline]] inline std::int32_t wrapping_multiply(std::int32_t a, std::int32_t b) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b));
}

/// a * b / 2^31, rounded to nearest, halves upwards. The only overflow, -2^31 * -2^31, saturates.
[[gnu::always_inline]] inline std::int32_t saturating_rounding_doubling_high_mul(std::int32_t a,
                                                                                 std::int32_t b) {
    // Bits 31 to 62 of the rounded product. gemmlowp's nudge by the sign and division towards zero give
    // the same. Only the overflow gives the lowest number.
    const auto product = static_cast<std::uint64_t>(std::int64_t{a} * b);
    const auto high = static_cast<std::int32_t>((product + (std::uint64_t{1} << 30)) >> 31);
    constexpr auto lowest = std::numeric_limits<std::int32_t>::min();
    return high == lowest ? std::numeric_limits<std::int32_t>::max() : high;
}

/// x / 2^exponent, rounded to nearest, halves away from zero; 0 <= exponent <= 31.
[[gnu::always_inline]] inline std::int32_t rounding_divide_by_power_of_two(std::int32_t x,
                                                                           std::int32_t exponent) {
    const auto mask = static_cast<std::int32_t>((std::uint32_t{1} << exponent) - 1);
    const std::int32_t remainder = x & mask;
    const std::int32_t threshold = (mask >> 1) + (x < 0 ? 1 : 0);
    return (x >> exponent) + (remainder > threshold ? 1 : 0);
}

/// As `multiply_by_quantized_multiplier`, with the shift given as a left and a right shift of 0 to 31.
[[gnu::always_inline]] inline std::int32_t scale(std::int32_t x, std::int32_t multiplier, std::int32_t left,
                                                 std::int32_t right) {
    const auto shifted = static_cast<std::int32_t>(static_cast<std::uint32_t>(x) << left);
    return rounding_divide_by_power_of_two(saturating_rounding_doubling_high_mul(shifted, multiplier), right);
}

[[gnu::always_inline]] inline constexpr std::int32_t left_shift(std::int32_t shift) {
    return std::clamp(shift, 0, shift_limit);
}

[[gnu::always_inline]] inline constexpr std::int32_t right_shift(std::int32_t shift) {
    return -std::clamp(shift, -shift_limit, 0);
}

/// x * multiplier / 2^31 * 2^shift. A positive shift is applied first and wraps around; a negative shift is
/// applied last and rounds a second time. Shifts beyond 31 places count as 31.
[[gnu::always_inline]] inline std::int32_t multiply_by_quantized_multiplier(std::int32_t x,
                                                                            std::int32_t multiplier,
                                                                            std::int32_t shift) {
    return scale(x, multiplier, left_shift(shift), right_shift(shift));
}

/// x * multiplier / 2^places, rounded once to the nearest integer, halves to the even number; 0 <= places <=
/// 62. Beyond 31 bits it saturates, so that a zero point can be added.
[[gnu::always_inline]] inline std::int32_t scale_to_even(std::int32_t x, std::int32_t multiplier,
                                                         std::int32_t places) {
    constexpr std::int64_t highest = (std::int64_t{1} << 30) - 1;
    const std::int64_t product = std::int64_t{x} * multiplier;
    const std::int64_t odd = (product >> places) & 1;
    // Half of the last place but one bit, and that bit if the number below is odd.
    const std::int64_t nudge = ((std::int64_t{1} << places) >> 1) - 1 + odd;
    const std::int64_t rounded = (product + (places == 0 ? 0 : nudge)) >> places;
    return static_cast<std::int32_t>(std::clamp(rounded, -highest - 1, highest));
}

/// The places that `scale_to_even` removes for a multiplier of `shift`.
[[gnu::always_inline]] inline constexpr std::int32_t places_of(std::int32_t shift) {
    return shift_limit - std::clamp(shift, -shift_limit, shift_limit);
}

/// x * multiplier / 2^31 * 2^shift, rounded once, halves to the even number: as `scale_to_even`.
[[gnu::always_inline]] inline std::int32_t multiply_to_even(std::int32_t x, std::int32_t multiplier,
                                                            std::int32_t shift) {
    return scale_to_even(x, multiplier, places_of(shift));
}

/// x * multiplier in float64, rounded to the nearest integer, halves away from zero. Beyond 32 bits it
/// saturates; what is no number counts as the lowest.
[[gnu::always_inline]] inline std::int32_t multiply_by_real(std::int32_t x, double multiplier) {
    constexpr double lowest = std::numeric_limits<std::int32_t>::min();
    constexpr double highest = std::numeric_limits<std::int32_t>::max();
    const double product = x * multiplier;
    const double above = product > lowest ? product : lowest;
    const double limited = above < highest ? above : highest;
    // Both steps are exact. Adding a half before the conversion would not be: 0.49999999999999994 + 0.5 is 1.
    const auto towards_zero = static_cast<std::int32_t>(limited);
    const double rest = limited - towards_zero;
    return towards_zero + static_cast<std::int32_t>(rest >= 0.5) - static_cast<std::int32_t>(rest <= -0.5);
}

/// The nearest integer, halves to the even number. Beyond 31 bits it saturates, so that a zero point can be
/// added; what is no number counts as the lowest.
[[gnu::always_inline]] inline std::int32_t round_half_to_even(float number) {
    constexpr float lowest = -0x1p30F;
    constexpr float highest = 0x1p30F - 64.0F;  // the largest of float32
    const float above = number > lowest ? number : lowest;
    const float limited = above < highest ? above : highest;
    const auto towards_zero = static_cast<std::int32_t>(limited);
    const float rest = limited - static_cast<float>(towards_zero);  // exact
    const std::int32_t odd = towards_zero & 1;
    const std::int32_t up =
        static_cast<std::int32_t>(rest > 0.5F) | (static_cast<std::int32_t>(rest == 0.5F) & odd);
    const std::int32_t down =
        static_cast<std::int32_t>(rest < -0.5F) | (static_cast<std::int32_t>(rest == -0.5F) & odd);
    return towards_zero + up - down;
}

/// x * multiplier in float64, rounded to float32, and then as `round_half_to_even`: so halves are halves
/// although a third has no number of float64.
[[gnu::always_inline]] inline std::int32_t multiply_by_real_to_even(std::int32_t x, double multiplier) {
    return round_half_to_even(static_cast<float>(x * multiplier));
}

/// x * multiplier as the Edge TPU computes it: x becomes the nearest float32, the product another, and that
/// is rounded as by `round_half_to_even`. The Edge TPU clamps before it rounds. Clamping the result gives the
/// same: float32 has the limits of 8 bits, which are integers, and rounding changes neither integers nor the
/// order of numbers.
[[gnu::always_inline]] inline std::int32_t multiply_by_float_to_even(std::int32_t x, float multiplier) {
    return round_half_to_even(static_cast<float>(x) * multiplier);
}

}  // namespace systole
