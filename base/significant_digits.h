#pragma once

#include <algorithm>
#include <cmath>

namespace systole {

/// A number rounded to a few significant digits.
struct Significant {
    double value = 0.0;
    int decimals = 0;  ///< digits behind the point that show it
};

/// 558.4 with two digits is 560; 0.9961 is 1.0. Not a number and infinity stay what they are. `digits` is at
/// least 1.
inline Significant significant(double value, int digits) {
    if (!std::isfinite(value) || value == 0.0) return {.value = value, .decimals = 0};
    const auto exponent_of = [](double number) {
        return static_cast<int>(std::floor(std::log10(std::abs(number))));
    };
    // A power of ten is exact as a factor; its reciprocal would not be.
    const int last = exponent_of(value) - digits + 1;  // place of the last digit that is kept
    const double power = std::pow(10.0, std::abs(last));
    const double nearest = last > 0 ? std::round(value / power) * power : std::round(value * power) / power;
    return {.value = nearest, .decimals = std::max(0, digits - 1 - exponent_of(nearest))};
}

}  // namespace systole
