#include "compiler/passes/encoding.h"

#include <algorithm>
#include <cmath>

namespace systole::passes {

std::int32_t Encoding::byte(double real) const {
    const double nearest = std::round(real / scale) + zero_point;
    return static_cast<std::int32_t>(std::clamp(nearest, 0.0, double{largest_byte}));
}

Encoding encoding_of(const Range& range) {
    // A tensor that is always 0 gets some scale; so does one below what float tells apart.
    constexpr double smallest_width = 1e-30;
    const double width = double{range.maximum} - double{range.minimum};
    if (width < smallest_width) return {1.0 / largest_byte, 0};
    const double scale = width / largest_byte;
    return {scale, Encoding{scale, 0}.byte(-double{range.minimum})};
}

std::array<std::uint8_t, 256> tabulate(const std::function<float(float)>& function, const Encoding& from,
                                       const Encoding& to) {
    std::array<std::uint8_t, 256> table{};
    for (std::int32_t byte = 0; byte <= largest_byte; ++byte) {
        const float value = function(static_cast<float>(from.real(byte)));
        table[static_cast<std::size_t>(byte)] = static_cast<std::uint8_t>(to.byte(value));
    }
    return table;
}

}  // namespace systole::passes
