#include "compiler/operators/fixed_point_functions.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "compiler/operators/fixed_point.h"

namespace systole::operators {
namespace {

constexpr std::int32_t one_q31 = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t one_q15 = std::numeric_limits<std::int16_t>::max();

// Constants in q31, or with the fractional bits that they are named after. Numbers of 16 bits have their
// upper halves, rounded.
constexpr std::int32_t exp_of_eighth = 1895147668;          // exp(-1/8)
constexpr std::int32_t one_third = 715827883;               // 1/3
constexpr std::int32_t first_reciprocal_q29 = 1515870810;   // 48/17
constexpr std::int32_t reciprocal_slope_q29 = -1010580540;  // -32/17
constexpr int steps_to_reciprocal = 3;
/// exp(-1/4), exp(-1/2), exp(-1), ... exp(-16)
constexpr std::array<std::int32_t, 7> exp_factors{1672461947, 1302514674, 790015084, 290630308,
                                                  39332535,   720401,     242};

/// The sum within 32 bits.
std::int32_t saturating_add(std::int32_t a, std::int64_t b) {
    constexpr std::int64_t lowest = std::numeric_limits<std::int32_t>::min();
    constexpr std::int64_t highest = std::numeric_limits<std::int32_t>::max();
    return static_cast<std::int32_t>(std::clamp(a + b, lowest, highest));
}

std::int32_t wrapping_sum(std::int32_t a, std::int32_t b) {
    return wrap(std::int64_t{a} + b);
}

int leading_zeros(std::int32_t x) {
    return std::countl_zero(static_cast<std::uint32_t>(x));
}

/// exp(x) for x from -1/4 to 0, both q31: a polynomial of the fourth degree around -1/8.
std::int32_t exp_of_quarter(std::int32_t x) {
    const std::int32_t y = wrap(std::int64_t{x} + (1 << 28));
    const std::int32_t y2 = multiply_fixed(y, y);
    const std::int32_t y3 = multiply_fixed(y2, y);
    const std::int32_t y4 = multiply_fixed(y2, y2);
    const std::int32_t upper = wrap(std::int64_t{rounding_divide_by_power_of_two(y4, 2)} + y3);
    const std::int32_t higher =
        rounding_divide_by_power_of_two(wrap(std::int64_t{multiply_fixed(upper, one_third)} + y2), 1);
    const std::int32_t sum = wrap(std::int64_t{y} + higher);
    return wrap(std::int64_t{exp_of_eighth} + multiply_fixed(exp_of_eighth, sum));
}

/// The number of 16 bits for a constant of 32.
std::int32_t narrowed(std::int32_t constant) {
    return rounding_divide_by_power_of_two(constant, 16);
}

std::int32_t saturated_narrow(std::int32_t x) {
    return std::clamp<std::int32_t>(x, std::numeric_limits<std::int16_t>::min(), one_q15);
}

/// a * b of q15 numbers, rounded, halves upwards; -1 * -1 saturates.
std::int32_t multiply_narrow(std::int32_t a, std::int32_t b) {
    return std::min((a * b + (1 << 14)) >> 15, one_q15);
}

/// As exp_of_quarter, in q15.
std::int32_t narrow_exp_of_quarter(std::int32_t x) {
    const std::int32_t middle = narrowed(exp_of_eighth);
    const std::int32_t y = x + (1 << 12);
    const std::int32_t y2 = multiply_narrow(y, y);
    const std::int32_t y3 = multiply_narrow(y2, y);
    const std::int32_t y4 = multiply_narrow(y2, y2);
    const std::int32_t upper = rounding_divide_by_power_of_two(y4, 2) + y3;
    const std::int32_t higher =
        rounding_divide_by_power_of_two(multiply_narrow(upper, narrowed(one_third)) + y2, 1);
    return saturated_narrow(middle + multiply_narrow(middle, y + higher));
}

/// exp(x), q15, for x <= 0 with 0 to 7 integer bits.
std::int32_t narrow_exp_of_negative(std::int32_t x, int integer_bits) {
    constexpr int bits = 15;
    constexpr int most_integer_bits = 5;  // exp(-32) is 0
    if (x == 0) return one_q15;
    const int fraction_bits = bits - integer_bits;
    if (integer_bits > most_integer_bits && x < -(1 << (most_integer_bits + fraction_bits))) return 0;
    const std::int32_t quarter = 1 << (fraction_bits - 2);
    const std::int32_t within = (x & (quarter - 1)) - quarter;
    std::int32_t result = narrow_exp_of_quarter(within * (1 << integer_bits));
    const std::int32_t rest = within - x;
    // Factor i is that of 2^(i - 2), which the number has if it has more than i - 2 integer bits.
    for (int i = 0; i < std::min(static_cast<int>(exp_factors.size()), integer_bits + 2); ++i) {
        if ((rest >> (fraction_bits - 2 + i) & 1) != 0) {
            result = multiply_narrow(result, narrowed(exp_factors[static_cast<std::size_t>(i)]));
        }
    }
    return result;
}

/// 2 / (1 + x), q13, for x from 0 to 1 in q15: as reciprocal_of_one_plus.
std::int32_t narrow_reciprocal(std::int32_t x) {
    constexpr std::int32_t one_q13 = 1 << 13;
    const std::int32_t half = (x + one_q15 + 1) / 2;
    std::int32_t y = narrowed(first_reciprocal_q29) + multiply_narrow(half, narrowed(reciprocal_slope_q29));
    for (int i = 0; i < steps_to_reciprocal; ++i) {
        const std::int32_t error = one_q13 - multiply_narrow(half, y);
        y += saturated_narrow(multiply_narrow(y, error) * 4);
    }
    return y;
}

}  // namespace

std::int32_t multiply_fixed(std::int32_t a, std::int32_t b) {
    return saturating_rounding_doubling_high_multiply(a, b);
}

std::int32_t shift_left(std::int32_t x, int bits) {
    constexpr std::int64_t lowest = std::numeric_limits<std::int32_t>::min();
    constexpr std::int64_t highest = std::numeric_limits<std::int32_t>::max();
    return static_cast<std::int32_t>(
        std::clamp(std::int64_t{x} * (std::int64_t{1} << bits), lowest, highest));
}

// That of the part within a quarter, times that of each power of two.
std::int32_t exp_of_negative(std::int32_t x) {
    if (x == 0) return one_q31;
    constexpr std::int32_t quarter = 1 << 24;
    constexpr int fraction_bits = 26;
    constexpr int to_q31 = 5;
    const std::int32_t within = (x & (quarter - 1)) - quarter;
    std::int32_t result = exp_of_quarter(shift_left(within, to_q31));
    const auto rest = static_cast<std::uint32_t>(within - x);
    for (std::size_t i = 0; i < exp_factors.size(); ++i) {
        if ((rest >> (static_cast<std::size_t>(fraction_bits) - 2 + i) & 1U) != 0) {
            result = multiply_fixed(result, exp_factors[i]);
        }
    }
    return result;
}

// Three steps of Newton's method.
std::int32_t reciprocal_of_one_plus(std::int32_t x) {
    constexpr std::int32_t one_q29 = 1 << 29;
    const std::int64_t sum = std::int64_t{x} + one_q31;
    const auto half = static_cast<std::int32_t>((sum + (sum >= 0 ? 1 : -1)) / 2);
    std::int32_t y = wrap(std::int64_t{first_reciprocal_q29} + multiply_fixed(half, reciprocal_slope_q29));
    for (int i = 0; i < steps_to_reciprocal; ++i) {
        const std::int32_t error = wrap(std::int64_t{one_q29} - multiply_fixed(half, y));
        y = wrap(std::int64_t{y} + shift_left(multiply_fixed(y, error), 2));
    }
    return shift_left(y, 1);
}

// The argument is r * 2^n with r around 2^(-1/4); its logarithm is n * log(2) and that of r, which is a
// quotient of polynomials. Of two candidates for r, the smaller one counts.
std::int32_t log_of_sum(std::int32_t x) {
    constexpr int integer_bits = 12;
    constexpr int power_bits = 25;  // fractional bits of n
    constexpr int to_power = 6;     // from q31
    constexpr std::int32_t log_of_2 = 1488522236;
    constexpr std::int32_t root_of_half = 1518500250;
    constexpr std::int32_t fourth_root_of_half = 1805811301;
    constexpr std::int32_t quarter = 1 << 23;  // in the bits of n
    constexpr std::int32_t alpha_numerator = 117049297;
    constexpr std::int32_t alpha_denominator = 127690142;
    constexpr std::int32_t alpha_constant = 1057819769;
    constexpr std::int32_t alpha_linear = 638450708;

    const int zeros = leading_zeros(x);
    const std::int32_t first = shift_left(multiply_fixed(shift_left(x, zeros - 1), root_of_half), 1);
    const std::int32_t first_power = saturating_add(shift_left(integer_bits - zeros, power_bits), quarter);
    const int headroom = leading_zeros(multiply_fixed(x, root_of_half)) - 1;
    const std::int32_t second = shift_left(x, headroom);
    const std::int32_t second_power =
        saturating_add(shift_left(integer_bits - headroom, power_bits), -std::int64_t{quarter});
    const std::int32_t r = std::min(first, second);
    const std::int32_t power = std::max(first_power, second_power);

    const std::int64_t both = std::int64_t{r} + fourth_root_of_half;
    const auto middle = static_cast<std::int32_t>((both + (both >= 0 ? 1 : -1)) / 2);
    const std::int32_t difference = wrap(2 * (std::int64_t{r} - fourth_root_of_half));
    const std::int32_t square = multiply_fixed(difference, difference);
    const std::int32_t numerator = wrapping_sum(
        multiply_fixed(difference, r), multiply_fixed(multiply_fixed(difference, square), alpha_numerator));
    const std::int32_t inner =
        wrapping_sum(wrapping_sum(alpha_constant, difference), multiply_fixed(alpha_denominator, square));
    const std::int32_t denominator =
        wrapping_sum(multiply_fixed(middle, inner), multiply_fixed(alpha_linear, difference));
    const std::int32_t quotient = multiply_fixed(rounding_divide_by_power_of_two(numerator, to_power),
                                                 reciprocal_of_one_plus(denominator));
    return shift_left(wrapping_sum(multiply_fixed(power, log_of_2), quotient), 1);
}

// Newton's method from 1, on a quarter to one times a power of 4.
InverseRoot inverse_root_of(std::int32_t x) {
    if (x <= 1) return {.multiplier = one_q31, .shift = 0};
    constexpr std::int32_t largest = 1 << 29;
    constexpr std::int32_t one_q28 = 1 << 28;
    constexpr std::int32_t half_of_three = one_q28 + one_q28 / 2;
    constexpr std::int32_t root_of_half = 1518500250;
    constexpr int steps_of_newton = 5;
    constexpr int three_integer_bits = 3;
    int right = 11;
    for (; x >= largest; ++right) x /= 4;
    const int pairs = (leading_zeros(x) - 1) / 2 - 1;
    right -= pairs;
    x <<= 2 * pairs;
    const std::int32_t half = rounding_divide_by_power_of_two(x >> 1, 1);
    std::int32_t y = one_q28;
    for (int i = 0; i < steps_of_newton; ++i) {
        const std::int32_t cube = shift_left(multiply_fixed(multiply_fixed(y, y), y), 2 * three_integer_bits);
        y = shift_left(wrap(std::int64_t{multiply_fixed(half_of_three, y)} - multiply_fixed(half, cube)),
                       three_integer_bits);
    }
    y = multiply_fixed(y, root_of_half);
    if (right < 0) return {.multiplier = wrap(std::int64_t{y} << -right), .shift = 0};
    return {.multiplier = y, .shift = -right};
}

// Both are computed for the number that is not positive.
std::int32_t narrow_sigmoid(std::int32_t x, int integer_bits) {
    constexpr std::int32_t half_q15 = 1 << 14;
    if (x == 0) return half_q15;
    const std::int32_t exp = narrow_exp_of_negative(-std::abs(x), integer_bits);
    const std::int32_t of_positive = saturated_narrow(narrow_reciprocal(exp) * 2);
    return x > 0 ? of_positive : one_q15 - of_positive;
}

// (1 - exp(-2 x)) / (1 + exp(-2 x)); the doubled number has one more integer bit.
std::int32_t narrow_tanh(std::int32_t x, int integer_bits) {
    constexpr std::int32_t one_q13 = 1 << 13;
    if (x == 0) return 0;
    const std::int32_t exp = narrow_exp_of_negative(-std::abs(x), integer_bits + 1);
    const std::int32_t of_positive = saturated_narrow((narrow_reciprocal(exp) - one_q13) * 4);
    return x > 0 ? of_positive : -of_positive;
}

DifferenceScale difference_scale(double scale, double beta) {
    constexpr double q26 = 1 << 26;
    constexpr double most = 2147483647.0;
    // The factor may be larger than what to_fixed_point takes.
    FixedPoint factor = to_fixed_point(std::min(beta * scale * q26, most) / 4.0);
    factor.shift += 2;
    const double radius = 31.0 * q26 / std::ldexp(1.0, factor.shift);
    return {factor, static_cast<std::int32_t>(-std::floor(radius))};
}

}  // namespace systole::operators
