#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hw/base/data_type.h"
#include "hw/base/fixed_point.h"

namespace systole::math {

/// The parameters of an element-wise operation on two quantized tensors, in the terms of the `vector`
/// instruction.
struct Elementwise {
    std::int32_t zero_point_a = 0;
    std::int32_t zero_point_b = 0;
    FixedPoint scale_a;  ///< of addition only
    FixedPoint scale_b;  ///< of addition only
    FixedPoint scale;    ///< of the sum or product
    std::int32_t zero_point = 0;
    std::int32_t minimum = 0;
    std::int32_t maximum = 255;
    DataType elements = DataType::Uint8;  ///< uint8, int8 or int16
};

/// Before they are scaled, the operands of an addition are multiplied by 2^20, so that little is lost when
/// they are rounded, those of 16 bits by 2^15; `Elementwise::scale` undoes it. As in TFLite.
inline constexpr std::int32_t addition_left_shift = 20;
inline constexpr std::int32_t wide_addition_left_shift = 15;

/// out[i] = clamp(zero_point + scale(scale_a((a[i] - zero_point_a) << 20) + scale_b(likewise b[i]))).
/// Scales are those of `multiply_by_quantized_multiplier`; everything wraps around; the low bits are stored.
/// Of 16-bit elements the shift is 15 instead of 20; they are little endian, at any alignment, and a last odd
/// byte of `out` keeps its value. Sizes are bytes. `out` may be `a` or `b`. Throws std::logic_error where the
/// sizes differ and for other formats.
void add(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b, const Elementwise& parameters,
         std::span<std::uint8_t> out);

/// out[i] = clamp(zero_point + scale((a[i] - zero_point_a) * (b[i] - zero_point_b))), otherwise as `add`.
void multiply(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b, const Elementwise& parameters,
              std::span<std::uint8_t> out);

}  // namespace systole::math
