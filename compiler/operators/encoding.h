#pragma once

#include <cstdint>
#include <functional>

#include "compiler/ir/value.h"
#include "compiler/mapping/network.h"

namespace systole::operators {

/// How real numbers are stored: real = scale * (stored - zero_point).
struct Encoding {
    double scale = 1.0;
    std::int32_t zero_point = 0;
    DataType type = DataType::Uint8;

    double real(std::int32_t value) const { return scale * (value - zero_point); }
    /// The nearest number that can be stored.
    std::int32_t stored(double real) const;

    bool operator==(const Encoding&) const = default;
};

/// Of a quantized value of one scale. Throws std::logic_error for another.
Encoding encoding_of(const ir::Value& value);

/// The encoding whose numbers cover the range and in which 0 is exact: unsigned bytes, or of 16 bits two's
/// complement with zero point 0.
Encoding encoding_of(const ir::Range& range, DataType type = DataType::Uint8);

/// The bytes of function(real) for every byte, from one encoding to another, both of bytes.
mapping::ByteTable tabulate(const std::function<float(float)>& function, const Encoding& from,
                            const Encoding& to);

/// The same for the numbers 128 * i - 32768, both encodings of 16 bits.
mapping::WideTable tabulate_wide(const std::function<float(float)>& function, const Encoding& from,
                                 const Encoding& to);

/// One of the two, as the encodings ask for; they must be of one width.
mapping::Table make_table(const std::function<float(float)>& function, const Encoding& from,
                          const Encoding& to);

}  // namespace systole::operators
