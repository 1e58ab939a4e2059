#pragma once

#include <cstdint>

namespace systole::math {

/// 1 / sqrt(x) as TFLite's kernels for 8 bits have it: multiplier / 2^31 * 2^shift.
struct InverseRoot {
    /// Of a sum of squares; numbers below 1 count as 1.
    explicit InverseRoot(std::int32_t sum);

    std::int32_t multiplier = 0;
    std::int32_t shift = 0;
};

}  // namespace systole::math
