#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "compiler/graph/quantized_network.h"
#include "compiler/passes/calibrate.h"

namespace systole::passes {

inline constexpr std::int32_t largest_byte = 255;

/// How real numbers become unsigned bytes: real = scale * (byte - zero_point).
struct Encoding {
    double scale = 1.0;
    std::int32_t zero_point = 0;

    double real(std::int32_t byte) const { return scale * (byte - zero_point); }
    /// The nearest byte.
    std::int32_t byte(double real) const;
};

inline Encoding encoding_of(const quantized::Tensor& tensor) {
    return {tensor.scale, tensor.zero_point};
}

/// The encoding in which the bytes cover the range and 0 is exact.
Encoding encoding_of(const Range& range);

/// The bytes of function(real) for every byte, from one encoding to another.
std::array<std::uint8_t, 256> tabulate(const std::function<float(float)>& function, const Encoding& from,
                                       const Encoding& to);

}  // namespace systole::passes
