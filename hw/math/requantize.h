#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/data_type.h"
#include "base/fixed_point.h"

namespace systole::math {

/// The conversion of accumulators to the next layer's activations:
/// clamp(zero_point + scale(accumulator + bias[c], multiplier[c], shift[c]), minimum, maximum), where scale
/// is `multiply_by_quantized_multiplier`, or `multiply_by_real` with real_multiplier[c] if there are any;
/// with `half_to_even`, it is `multiply_to_even` or `multiply_by_real_to_even`, and with float_multiplier
/// `multiply_by_float_to_even`. Both additions wrap around.
/// minimum <= maximum.
struct Requantization {
    std::span<const std::int32_t> bias;        ///< one for each column
    std::span<const std::int32_t> multiplier;  ///< one for each column, or none
    std::span<const std::int8_t> shift;        ///< one for each column, or none
    std::int32_t zero_point = 0;
    std::int32_t minimum = 0;
    std::int32_t maximum = 255;
    std::span<const double> real_multiplier = {};  ///< one for each column instead, or none
    bool half_to_even = false;                     ///< scale rounds once, halves to even
    std::span<const float> float_multiplier = {};  ///< one for each column instead, or none
};

/// Requantizes rows of `columns` accumulators. Row r begins at accumulators[r * accumulator_stride], its
/// results at byte out[r * out_stride]. Stores the low bits of each result in an integer format of 8 or 16
/// bits, little endian, at any alignment. Strides are at least the length of a row; bytes between the rows of
/// `out` are not changed. Throws std::logic_error if a parameter array is shorter than `columns`, and for
/// other formats.
void requantize_rows(const std::int32_t* accumulators, std::size_t accumulator_stride, std::size_t rows,
                     std::size_t columns, const Requantization& parameters, DataType type, std::uint8_t* out,
                     std::size_t out_stride);

}  // namespace systole::math
