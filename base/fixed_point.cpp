#include "base/fixed_point.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

namespace systole {

FixedPoint to_fixed_point(double real) {
    constexpr int limit = shift_limit - 1;  // rounding up may add one
    if (!(std::abs(real) < std::ldexp(1.0, limit))) {
        throw std::domain_error(fmt::format("scale is {}; its magnitude must be below 2^{}", real, limit));
    }
    int exponent = 0;
    const double fraction = std::frexp(real, &exponent);
    auto multiplier = static_cast<std::int64_t>(std::round(std::ldexp(fraction, 31)));
    // A fraction that rounds up to 1 does not fit into Q31, so it is halved; so is -1, although it would fit.
    if (std::abs(multiplier) == std::int64_t{1} << 31) {
        multiplier /= 2;
        ++exponent;
    }
    if (exponent < -shift_limit || multiplier == 0) return {};
    return {static_cast<std::int32_t>(multiplier), exponent};
}

}  // namespace systole
