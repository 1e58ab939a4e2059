#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compiler/ir/value.h"

/// How the integers of values stand for real numbers.
namespace systole::ir {

/// The storage of real numbers as integers: real = scale * (stored - zero_point).
struct Encoding {
    double scale = 1.0;
    std::int32_t zero_point = 0;
    DataType type = DataType::Uint8;

    /// In double, because the difference of two integers of 32 bits does not fit in 32 bits.
    double real(std::int32_t value) const {
        return scale * (static_cast<double>(value) - static_cast<double>(zero_point));
    }
    /// The stored number nearest to `real`.
    std::int32_t stored(double real) const;

    bool operator==(const Encoding&) const = default;
};

/// The encoding of a quantized value with one scale. Throws ModelError for other values.
Encoding encoding_of(const Value& value);

/// The encoding that covers the range and represents 0 exactly: unsigned bytes, or 16 bits in two's
/// complement with zero point 0.
Encoding encoding_of(const Range& range, DataType type = DataType::Uint8);

/// The end of a range that is infinite or not a number; no integers can store such a range.
std::optional<float> end_without_size(const Range& range);
/// The range of both. NaN counts as smaller and as larger than any number, so that it stays seen.
Range union_of(const Range& a, const Range& b);

/// The real numbers that the stored numbers of a quantized value with one scale stand for.
std::vector<float> real_numbers(std::span<const std::int32_t> stored, const Value& value);
/// The stored numbers nearest to real numbers, for a quantized value with one scale.
void store_numbers(std::span<const float> real, const Value& value, std::span<std::int32_t> stored);

/// Where the elements of a value find their scale: the number of scales, and how many elements lie between
/// those of neighbouring scales.
struct ScaleAxis {
    std::size_t count = 1;
    std::size_t stride = 1;
    std::size_t index_of(std::size_t element) const { return count == 1 ? 0 : element / stride % count; }
};
ScaleAxis scale_axis(const Value& value);

}  // namespace systole::ir
