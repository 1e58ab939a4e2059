#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

/// The fixed-point arithmetic of quantized networks as gemmlowp and TFLite define it: a second, independent
/// and simple implementation, against which the chip's results are checked.
namespace systole::operators {

/// The high half of 2 * a * b, rounded to nearest, halves up. The only product that does not fit saturates to
/// the largest value.
inline std::int32_t saturating_rounding_doubling_high_multiply(std::int32_t a, std::int32_t b) {
    constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min();
    if (a == lowest && b == lowest) return std::numeric_limits<std::int32_t>::max();
    const std::int64_t product = std::int64_t{a} * b;
    const std::int64_t nudge = product >= 0 ? (std::int64_t{1} << 30) : 1 - (std::int64_t{1} << 30);
    return static_cast<std::int32_t>((product + nudge) / (std::int64_t{1} << 31));
}

/// x / 2^exponent, rounded to nearest, halves away from zero.
inline std::int32_t rounding_divide_by_power_of_two(std::int32_t x, int exponent) {
    const std::int64_t divisor = std::int64_t{1} << exponent;
    const std::int64_t magnitude = x < 0 ? -std::int64_t{x} : std::int64_t{x};
    const std::int64_t rounded = (magnitude + divisor / 2) / divisor;
    return static_cast<std::int32_t>(x < 0 ? -rounded : rounded);
}

/// The low 32 bits of x: sums and shifts wrap around, as in the accumulators.
inline std::int32_t wrap(std::int64_t x) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(x));
}

/// x * multiplier / 2^31 * 2^shift, rounded after the multiplication and after a shift to the right.
/// Shifts beyond 31 places count as 31.
inline std::int32_t scale(std::int32_t x, std::int32_t multiplier, int shift) {
    const int left = std::clamp(shift, 0, 31);
    const int right = std::clamp(-shift, 0, 31);
    const std::int32_t shifted = wrap(std::int64_t{x} * (std::int64_t{1} << left));
    return rounding_divide_by_power_of_two(saturating_rounding_doubling_high_multiply(shifted, multiplier),
                                           right);
}

/// A multiplier of 31 bits with its upper 15 alone, rounded.
inline std::int32_t reduced_multiplier(std::int32_t multiplier) {
    constexpr std::int32_t largest = 0x7fff;
    if (multiplier >= largest * 0x10000) return largest;
    return (multiplier + 0x8000) >> 16;
}

/// x * multiplier / 2^31 * 2^shift, with a multiplier of 15 bits and rounded once, halves upwards: TFLite's
/// rule for sums of 64 bits. `shift` is from -31 to 7.
inline std::int32_t scale_wide(std::int64_t x, std::int32_t multiplier, int shift) {
    const std::int64_t product = x * reduced_multiplier(multiplier);
    const int right = 15 - shift;
    return static_cast<std::int32_t>((product + (std::int64_t{1} << (right - 1))) >> right);
}

/// x * multiplier / 2^31 * 2^shift, rounded once, halves to the even number: as ONNX rounds. Results beyond
/// 31 bits saturate. Shifts beyond 31 places count as 31.
inline std::int32_t scale_to_even(std::int32_t x, std::int32_t multiplier, int shift) {
    constexpr std::int64_t limit = std::int64_t{1} << 30;
    const std::int64_t product = std::int64_t{x} * multiplier;
    const std::int64_t divisor = std::int64_t{1} << (31 - std::clamp(shift, -31, 31));
    const std::int64_t doubled_rest = 2 * std::abs(product % divisor);
    std::int64_t quotient = product / divisor;
    if (doubled_rest > divisor || (doubled_rest == divisor && quotient % 2 != 0)) {
        quotient += product < 0 ? -1 : 1;
    }
    return static_cast<std::int32_t>(std::clamp(quotient, -limit, limit - 1));
}

/// x * multiplier in float64, rounded once, halves away from zero: the rule of TFLite's fully connected
/// operators since 2.20. Results that it leaves undefined: beyond 32 bits they saturate, and what is no
/// number becomes the lowest.
inline std::int32_t scale_real(std::int64_t x, double multiplier) {
    constexpr double lowest = std::numeric_limits<std::int32_t>::min();
    constexpr double highest = std::numeric_limits<std::int32_t>::max();
    const double product = std::round(static_cast<double>(x) * multiplier);
    return static_cast<std::int32_t>(std::isnan(product) ? lowest : std::clamp(product, lowest, highest));
}

/// The nearest integer, halves to the even number. Beyond 31 bits, results saturate, and what is no number
/// becomes the lowest.
inline std::int32_t nearest_even(float number) {
    constexpr float limit = 0x1p30F;
    const float largest = std::nextafter(limit, 0.0F);
    // nearbyint rounds halves to even, as nothing here changes the rounding mode.
    const float rounded = std::nearbyint(number);
    return static_cast<std::int32_t>(std::isnan(rounded) ? -limit : std::clamp(rounded, -limit, largest));
}

/// x * multiplier in float64, rounded to float32 and then to an integer, halves to the even number, as in
/// ONNX.
inline std::int32_t scale_real_to_even(std::int64_t x, double multiplier) {
    return nearest_even(static_cast<float>(static_cast<double>(x) * multiplier));
}

/// x * multiplier in float32, of the float32 nearest to x. The float64 between them is exact, and keeps a
/// compiler from adding to the product before it is rounded.
inline float float_product(std::int32_t x, float multiplier) {
    return static_cast<float>(double{static_cast<float>(x)} * double{multiplier});
}

/// The product as an integer, halves to the even number: as the Edge TPU rounds, which clamps before
/// (multiply_by_float_to_even).
inline std::int32_t scale_float_to_even(std::int32_t x, float multiplier) {
    return nearest_even(float_product(x, multiplier));
}

/// offset + x within [minimum, maximum].
inline std::int32_t offset_and_clamp(std::int32_t x, std::int32_t offset, std::int32_t minimum,
                                     std::int32_t maximum) {
    return std::max(minimum, std::min(maximum, wrap(std::int64_t{x} + offset)));
}

}  // namespace systole::operators
