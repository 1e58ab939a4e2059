#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/data_type.h"
#include "base/fixed_point.h"

namespace systole::math {

/// The parameters of an element-wise operation on two quantized tensors, as in the `vector` instruction.
struct Elementwise {
    std::int32_t zero_point_a = 0;
    std::int32_t zero_point_b = 0;
    FixedPoint scale_a;  ///< for addition only
    FixedPoint scale_b;  ///< for addition only
    FixedPoint scale;    ///< for the sum or product
    std::int32_t zero_point = 0;
    std::int32_t minimum = 0;
    std::int32_t maximum = 255;
    DataType elements = DataType::Uint8;  ///< uint8, int8 or int16
    bool half_to_even = false;            ///< scales are applied by `multiply_to_even`
};

/// Operands of an addition are shifted left before they are scaled, so that rounding loses little: by 20 bits
/// for 8-bit and by 15 bits for 16-bit operands, as in TFLite. `Elementwise::scale` undoes the shift.
inline constexpr std::int32_t addition_left_shift_8_bit = 20;
inline constexpr std::int32_t addition_left_shift_16_bit = 15;
/// The same before a difference that is squared.
inline constexpr std::int32_t squared_difference_left_shift = 7;

/// out[i] = clamp(zero_point + scale(scale_a((a[i] - zero_point_a) << s) + scale_b((b[i] - zero_point_b) <<
/// s))) with s = 20 for 8-bit and 15 for 16-bit elements. Scales are applied by
/// `multiply_by_quantized_multiplier`, or `multiply_to_even` with `half_to_even`; overflows wrap around; the
/// low bits are stored. 16-bit elements are little endian, at any alignment, and a last odd byte of `out`
/// keeps its value. Sizes are bytes. `out` may be `a` or `b`. Throws std::logic_error if the sizes differ and
/// for other formats.
void add(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b, const Elementwise& parameters,
         std::span<std::uint8_t> out);

/// out[i] = clamp(zero_point + scale((a[i] - zero_point_a) * (b[i] - zero_point_b))), otherwise as `add`.
void multiply(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b, const Elementwise& parameters,
              std::span<std::uint8_t> out);

}  // namespace systole::math
