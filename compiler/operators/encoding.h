#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "compiler/ir/value.h"
#include "compiler/mapping/network.h"

namespace systole::operators {

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

/// The real numbers that the stored numbers of a quantized value with one scale stand for.
std::vector<float> real_numbers(std::span<const std::int32_t> stored, const ir::Value& value);
/// The stored numbers nearest to real numbers, for a quantized value with one scale.
void store_numbers(std::span<const float> real, const ir::Value& value, std::span<std::int32_t> stored);

/// A rounded number as an integer. Numbers far outside of 32 bits, which scales at the ends of float32 give,
/// become one that is outside of every stored type; 0 times infinity becomes 0.
inline std::int64_t saturated(float rounded) {
    constexpr float limit = 1e9F;
    return std::isnan(rounded) ? 0 : static_cast<std::int64_t>(std::clamp(rounded, -limit, limit));
}

/// The encoding of a quantized value with one scale. Throws ModelError for other values.
Encoding encoding_of(const ir::Value& value);

/// The encoding that covers the range and represents 0 exactly: unsigned bytes, or 16 bits in two's
/// complement with zero point 0.
Encoding encoding_of(const ir::Range& range, DataType type = DataType::Uint8);

/// The table of function(real) for every stored byte, from one encoding of bytes to another.
mapping::ByteTable tabulate(const std::function<float(float)>& function, const Encoding& from,
                            const Encoding& to);

/// The same for the stored numbers 128 * i - 32768 and encodings of 16 bits.
mapping::WideTable tabulate_wide(const std::function<float(float)>& function, const Encoding& from,
                                 const Encoding& to);

/// The table for the encodings' width, which must be the same for both.
mapping::Table make_table(const std::function<float(float)>& function, const Encoding& from,
                          const Encoding& to);

}  // namespace systole::operators
