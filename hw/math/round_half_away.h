#pragma once

#include <cmath>
#include <cstdint>

namespace systole::math {

/// The nearest integer, halves away from zero. Beyond 31 bits it saturates, so that a zero point can be
/// added; what is no number counts as the lowest, as in `round_half_to_even`.
inline std::int32_t round_half_away(float number) {
    constexpr float lowest = -0x1p30F;
    constexpr float highest = 0x1p30F - 64.0F;  // the largest of float32
    const float above = number > lowest ? number : lowest;
    return static_cast<std::int32_t>(std::round(above < highest ? above : highest));
}

}  // namespace systole::math
