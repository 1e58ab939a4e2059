#include "hw/math/inverse_root.h"

#include <bit>
#include <limits>

#include "base/fixed_point.h"
#include "hw/math/softmax.h"

namespace systole::math {

InverseRoot::InverseRoot(std::int32_t sum) : multiplier(std::numeric_limits<std::int32_t>::max()) {
    if (sum <= 1) return;
    constexpr std::int32_t one_q28 = 1 << 28;
    constexpr std::int32_t three_halves_q28 = 3 << 27;
    constexpr std::int32_t root_of_half_q31 = 1518500250;
    // x * 4^pairs, from 2^27 to 2^29, is a number from 1/4 to 1 with 29 fractional bits.
    std::int32_t x = sum;
    std::int32_t right = 11;
    while (x >= 1 << 29) {
        x /= 4;
        ++right;
    }
    const int pairs = (std::countl_zero(static_cast<std::uint32_t>(x)) - 1) / 2 - 1;
    x <<= 2 * pairs;
    right -= pairs;
    const std::int32_t half = rounding_divide_by_power_of_two(x / 2, 1);
    // Newton's method, with 3 integer bits.
    std::int32_t y = one_q28;
    constexpr int steps_of_newton = 5;
    for (int i = 0; i < steps_of_newton; ++i) {
        const std::int32_t square = multiply_fixed(y, y);
        const std::int32_t cube = shift_left(multiply_fixed(square, y), 6);
        y = shift_left(wrapping_subtract(multiply_fixed(three_halves_q28, y), multiply_fixed(half, cube)), 3);
    }
    y = multiply_fixed(y, root_of_half_q31);
    multiplier = right < 0 ? static_cast<std::int32_t>(static_cast<std::uint32_t>(y) << -right) : y;
    shift = right < 0 ? 0 : -right;
}

}  // namespace systole::math
