#pragma once

#include <cstdint>

#include "hw/base/arithmetic.h"

namespace systole::frontend {

/// Elements added before and after an axis.
struct Padding {
    std::uint32_t before = 0;
    std::uint32_t after = 0;
};

/// TensorFlow's "same": the least that lets ceil(input / stride) windows fit; an odd one goes after.
/// `stride` is at least 1.
constexpr Padding same_padding(std::uint32_t input, std::uint32_t kernel, std::uint32_t stride) {
    const std::uint64_t windows = divide_up(std::uint64_t{input}, stride);
    const std::uint64_t covered = windows == 0 ? 0 : (windows - 1) * stride + kernel;
    // Below kernel: the last window begins inside the input.
    const auto total = static_cast<std::uint32_t>(covered > input ? covered - input : 0);
    return {total / 2, total - total / 2};
}

}  // namespace systole::frontend
