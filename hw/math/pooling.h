#pragma once

#include <cstddef>
#include <cstdint>

#include "base/data_type.h"
#include "base/window_geometry.h"
#include "hw/math/window.h"

namespace systole::math {

enum class Pooling : std::uint8_t {
    Max,      ///< the largest of each window, by channel
    Average,  ///< the mean of each window, by channel, rounded half away from zero
};

/// The operation, the number format, and the treatment of elements outside the image.
struct PoolingRules {
    Pooling operation = Pooling::Max;
    DataType elements = DataType::Uint8;  ///< uint8 or int8
    /// Elements outside the image have the value `pad_value`; otherwise they do not count.
    bool count_padding = false;
    std::uint8_t pad_value = 0;  ///< as the element's bits
};

/// The output: images and pixels are the given strides (bytes) apart; bytes between pixels are not changed.
struct PoolingOutput {
    std::uint8_t* first = nullptr;  ///< the first channel of the first image's first pixel
    std::size_t image_stride = 0;
    std::size_t pixel_stride = 0;  ///< at least the channels
};

/// Pools output lines [first_line, first_line + lines) of a tensor of 8-bit elements into an output tensor
/// with the same number of channels. If padding does not count, a window wholly outside the image gives
/// `pad_value`. Throws std::logic_error for windows above `largest_pooling_window`.
void pool(const std::uint8_t* tensor, const WindowGeometry& geometry, const PoolingRules& rules,
          std::size_t first_line, std::size_t lines, const PoolingOutput& output);

}  // namespace systole::math
