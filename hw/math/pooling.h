#pragma once

#include <cstddef>
#include <cstdint>

#include "hw/math/window.h"

namespace systole::math {

enum class Pooling : std::uint8_t {
    Max,      ///< the largest of each window, by channel
    Average,  ///< the mean of each window, by channel, rounded half away from zero
};

/// How pooling reads elements, and what it takes those outside the image for.
struct PoolingRules {
    Pooling operation = Pooling::Max;
    bool signed_elements = false;
    /// Elements outside the image have the value `pad_value`; otherwise they do not count.
    bool count_padding = false;
    std::uint8_t pad_value = 0;  ///< as the element's bits
};

/// Largest window, in pixels, whose sums fit: callers check.
inline constexpr std::size_t largest_pooling_window = std::size_t{1} << 23;

/// Pools output lines [first_line, first_line + lines) of a tensor of 8-bit elements into an output tensor
/// of as many channels whose first image begins at `out` and whose images, packed inside, begin
/// `out_image_stride` bytes after one another. A window wholly outside the image, where padding does not
/// count, gives `pad_value`. Throws std::logic_error for windows above `largest_pooling_window`.
void pool(const std::uint8_t* tensor, const WindowGeometry& geometry, const PoolingRules& rules,
          std::size_t first_line, std::size_t lines, std::uint8_t* out, std::size_t out_image_stride);

}  // namespace systole::math
