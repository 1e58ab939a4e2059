#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace systole::math {

/// How the windows of a convolution or pooling lie in a tensor of images, each packed in height, width,
/// channel order. All sizes and strides are at least 1. Output lines are numbered through the images: line
/// l is line l % output_height of image l / output_height.
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

/// Elements [begin, begin + count) of each window of output lines [first_line, first_line + lines).
struct WindowRange {
    std::size_t begin = 0;
    std::size_t count = 0;  ///< begin + count is at most `window_elements()`
    std::size_t first_line = 0;
    std::size_t lines = 0;
};

/// Writes the range of each window as one row of `out`, windows from left to right and line by line:
/// implicit im2col. Elements have 1 or 2 bytes; those outside the image are `pad_value`. `out_stride` is
/// bytes from a row to the next, at least the range's; bytes between rows stay as they are.
void gather_windows(const std::uint8_t* tensor, const WindowGeometry& geometry, const WindowRange& range,
                    std::uint16_t pad_value, std::size_t element_bytes, std::uint8_t* out,
                    std::size_t out_stride);

/// Rows of bytes that already lie in memory, `row_bytes` from one to the next.
struct StridedView {
    const std::uint8_t* data = nullptr;
    std::size_t row_bytes = 0;
};

/// The rows `gather_windows` would write, where the tensor itself holds them: each in one piece, inside the
/// image, not overlapping, at equal distances. So it is for 1x1 kernels and for windows as large as images.
std::optional<StridedView> contiguous_windows(const std::uint8_t* tensor, const WindowGeometry& geometry,
                                              const WindowRange& range, std::size_t element_bytes);

}  // namespace systole::math
