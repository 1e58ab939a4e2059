#pragma once

#include <cstdint>

#include "compiler/operators/integer_types.h"

/// Functions in the fixed-point arithmetic of TFLite's reference kernels. Fixed-point numbers are named after
/// their fractional bits: q31, of 32 bits, and q15, of 16, are from -1 to 1.
namespace systole::operators {

/// a * b of q31 numbers, rounded.
std::int32_t multiply_fixed(std::int32_t a, std::int32_t b);
/// x * 2^bits, saturated.
std::int32_t shift_left(std::int32_t x, int bits);
/// exp(x), q31, for x <= 0 in q26.
std::int32_t exp_of_negative(std::int32_t x);
/// 1 / (1 + x), q31, for x from 0 to 1 in q31.
std::int32_t reciprocal_of_one_plus(std::int32_t x);
/// log(x), q26, for x from 1 in q19.
std::int32_t log_of_sum(std::int32_t x);

/// A number times 1 / sqrt(x) is scale(number, multiplier, shift) with `scale` of fixed_point.h.
struct InverseRoot {
    std::int32_t multiplier = 0;
    int shift = 0;
};
/// Of an integer that is not negative; 0 counts as 1.
InverseRoot inverse_root_of(std::int32_t x);

/// Functions of numbers of 16 bits, of which the sign and `integer_bits` come before the point. Their results
/// are q15, from -1 to 1.
/// 1 / (1 + exp(-x)); integer_bits is from 0 to 7.
std::int32_t narrow_sigmoid(std::int32_t x, int integer_bits);
/// tanh(x); integer_bits is from 0 to 6.
std::int32_t narrow_tanh(std::int32_t x, int integer_bits);

/// The scaling of differences to the largest number: by a multiplier and a shift to the left, to q26.
struct DifferenceScale {
    FixedPoint factor;
    std::int32_t lowest = 0;  ///< below it, the result is 0
};
DifferenceScale difference_scale(double scale, double beta);

}  // namespace systole::operators
