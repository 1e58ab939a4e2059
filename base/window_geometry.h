#pragma once

#include <cstddef>
#include <cstdint>

namespace systole {

/// The positions of the windows of a convolution or pooling in a tensor of images. An image is packed in
/// height, width, channel order. All sizes and strides are at least 1. Output lines are numbered through all
/// images: line l is line l % output_height of image l / output_height.
struct WindowGeometry {
    std::uint32_t input_height = 1;   ///< pixels
    std::uint32_t input_width = 1;    ///< pixels
    std::uint32_t channels = 1;       ///< elements of a pixel
    std::uint32_t kernel_height = 1;  ///< pixels
    std::uint32_t kernel_width = 1;   ///< pixels
    std::uint32_t stride_y = 1;       ///< pixels
    std::uint32_t stride_x = 1;       ///< pixels
    std::uint32_t pad_top = 0;        ///< pixels above the image that windows begin at
    std::uint32_t pad_left = 0;       ///< pixels left of the image that windows begin at
    std::uint32_t output_height = 1;  ///< windows of an image from top to bottom
    std::uint32_t output_width = 1;   ///< windows of an image from left to right
    std::size_t image_stride_bytes = 0;

    /// Elements of a window, counted in kernel row, kernel column, channel order.
    std::size_t window_elements() const { return std::size_t{kernel_height} * kernel_width * channels; }
};

}  // namespace systole
