#include "hw/math/softmax.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/fixed_point.h"

namespace systole::math {
namespace {

constexpr std::int32_t one_q31 = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t sum_integer_bits = 12;
constexpr std::int32_t result_bits = 8;
constexpr std::int32_t word_bits = 31;

}  // namespace

std::int32_t multiply_fixed(std::int32_t a, std::int32_t b) {
    return saturating_rounding_doubling_high_mul(a, b);
}

std::int32_t shift_left(std::int32_t x, int bits) {
    constexpr std::int64_t lowest = std::numeric_limits<std::int32_t>::min();
    constexpr std::int64_t highest = std::numeric_limits<std::int32_t>::max();
    return static_cast<std::int32_t>(
        std::clamp(std::int64_t{x} * (std::int64_t{1} << bits), lowest, highest));
}

// Three steps of Newton's method.
std::int32_t reciprocal_of_one_plus(std::int32_t x) {
    constexpr std::int32_t start = 1515870810;   // 48/17 with 29 fractional bits
    constexpr std::int32_t slope = -1010580540;  // -32/17
    constexpr std::int32_t one_q29 = 1 << 29;
    const std::int64_t sum = std::int64_t{x} + one_q31;
    const auto half = static_cast<std::int32_t>((sum + (sum >= 0 ? 1 : -1)) / 2);
    std::int32_t y = wrapping_add(start, multiply_fixed(half, slope));
    constexpr int steps_of_newton = 3;
    for (int i = 0; i < steps_of_newton; ++i) {
        const std::int32_t error = wrapping_subtract(one_q29, multiply_fixed(half, y));
        y = wrapping_add(y, shift_left(multiply_fixed(y, error), 2));
    }
    return shift_left(y, 1);
}

std::int32_t softmax_summand(std::int32_t exponential) {
    return rounding_divide_by_power_of_two(exponential, sum_integer_bits);
}

SoftmaxShare::SoftmaxShare(std::int32_t sum) {
    const std::uint32_t bits = sum == 0 ? 1 : static_cast<std::uint32_t>(sum);
    const int headroom = std::countl_zero(bits);
    // From 1 to 2, less 1.
    const auto fraction = static_cast<std::int32_t>((bits << headroom) - (std::uint32_t{1} << word_bits));
    reciprocal = reciprocal_of_one_plus(fraction);
    right = std::clamp(sum_integer_bits - headroom + word_bits - result_bits, 0, word_bits);
}

std::int32_t SoftmaxShare::of(std::int32_t exponential) const {
    return rounding_divide_by_power_of_two(multiply_fixed(reciprocal, exponential), right);
}

}  // namespace systole::math
