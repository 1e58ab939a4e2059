#pragma once

#include <cmath>

#include "hw/math/floats/float_values.h"
#include "tests/support/floats.h"

namespace systole::tests {

/// Whether a float32 is the nearest, settled, to a number that is within 2^-45 of the value, relative to it:
/// between two of them, a rounding may fall either way.
inline bool is_nearest(float y, long double value) {
    const long double error = std::abs(value) * 0x1p-45L;
    const float low = math::settled(static_cast<float>(value - error));
    const float high = math::settled(static_cast<float>(value + error));
    return bits_of(y) == bits_of(low) || bits_of(y) == bits_of(high);
}

}  // namespace systole::tests
