#pragma once

#include <cstdint>

// The softmax of TFLite's kernels for 8 bits, in fixed-point numbers of 32 bits.
namespace systole::math {

/// a * b of numbers from -1 to 1 with 31 fractional bits, rounded.
std::int32_t multiply_fixed(std::int32_t a, std::int32_t b);
/// x * 2^bits, saturated.
std::int32_t shift_left(std::int32_t x, int bits);
/// 1 / (1 + x) for x from 0 to 1, both with 31 fractional bits.
std::int32_t reciprocal_of_one_plus(std::int32_t x);

/// What an exponential adds to the sum, which has 19 fractional bits.
std::int32_t softmax_summand(std::int32_t exponential);

/// Turns exponentials with 31 fractional bits into shares of their sum, in 1/256.
struct SoftmaxShare {
    /// Of the sum, which wraps around at 32 bits; 0 counts as 1.
    explicit SoftmaxShare(std::int32_t sum);

    std::int32_t of(std::int32_t exponential) const;

    std::int32_t reciprocal = 0;
    std::int32_t right = 0;  ///< places by which products are shifted
};

}  // namespace systole::math
