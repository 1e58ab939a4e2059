#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/window_geometry.h"

namespace systole::math {

/// Elements [begin, begin + count) of each window of the output lines [first_line, first_line + lines).
struct WindowRange {
    std::size_t begin = 0;
    std::size_t count = 0;  ///< begin + count is at most `window_elements()`
    std::size_t first_line = 0;
    std::size_t lines = 0;
};

/// Writes the range of each window as one row of `out`, windows from left to right and line by line (im2col).
/// Elements have 1 or 2 bytes; elements outside the image are `pad_value`. `out_stride` is the bytes from a
/// row to the next, at least the bytes of the range; bytes between rows are not changed.
void gather_windows(const std::uint8_t* tensor, const WindowGeometry& geometry, const WindowRange& range,
                    std::uint16_t pad_value, std::size_t element_bytes, std::uint8_t* out,
                    std::size_t out_stride);

/// Rows of bytes in memory, `row_bytes` bytes from one to the next.
struct StridedView {
    const std::uint8_t* data = nullptr;
    std::size_t row_bytes = 0;
};

/// The rows that `gather_windows` would write, if the tensor itself holds them: each contiguous, inside the
/// image, without overlap, at equal distances. This is the case for 1x1 kernels and for windows as large as
/// the image. Otherwise nullopt.
std::optional<StridedView> contiguous_windows(const std::uint8_t* tensor, const WindowGeometry& geometry,
                                              const WindowRange& range, std::size_t element_bytes);

}  // namespace systole::math
