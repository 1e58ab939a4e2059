#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hw/base/fixed_point.h"

namespace systole::math {

/// How accumulators become the next layer's activations:
/// clamp(zero_point + scale(accumulator + bias[c], multiplier[c], shift[c]), minimum, maximum), scale as
/// `multiply_by_quantized_multiplier`. Both additions wrap around. minimum <= maximum.
struct Requantization {
    std::span<const std::int32_t> bias;        ///< one a column
    std::span<const std::int32_t> multiplier;  ///< one a column
    std::span<const std::int8_t> shift;        ///< one a column
    std::int32_t zero_point = 0;
    std::int32_t minimum = 0;
    std::int32_t maximum = 255;
};

/// Requantizes rows of `columns` accumulators; row r begins at accumulators[r * accumulator_stride], its
/// results at out[r * out_stride]. Stores the low byte of each result. Strides are at least `columns`;
/// bytes between the rows of `out` stay as they are. Throws std::logic_error where a parameter array is
/// shorter than `columns`.
void requantize_rows(const std::int32_t* accumulators, std::size_t accumulator_stride, std::size_t rows,
                     std::size_t columns, const Requantization& parameters, std::uint8_t* out,
                     std::size_t out_stride);

/// As `requantize_rows`, storing the low 16 bits of each result, little endian, at any alignment.
/// out_stride is bytes, at least 2 * columns.
void requantize_rows_wide(const std::int32_t* accumulators, std::size_t accumulator_stride, std::size_t rows,
                          std::size_t columns, const Requantization& parameters, std::uint8_t* out,
                          std::size_t out_stride);

}  // namespace systole::math
