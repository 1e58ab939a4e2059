#pragma once

#include <cstdint>

#include "base/window_geometry.h"
#include "hw/isa/footprint.h"

// The rows that an instruction touches by the window.* registers.
namespace systole::isa {

/// Output lines [first, first + count), numbered through the images.
struct LineRange {
    std::uint64_t first = 0;
    std::uint64_t count = 0;  ///< at least 1
};

/// Largest sizes, strides and padding of the window.* registers, and largest number of channels. With them no
/// position in a tensor overflows 64 bits.
inline constexpr std::uint32_t largest_window_side = (1U << 16U) - 1;
inline constexpr std::uint32_t largest_window_channels = (1U << 24U) - 1;

/// Throws ProgramError if a size, kernel size or stride of the window.* registers is 0 or too large.
void check_window(const Registers& registers);

/// Throws ProgramError if a window is too large for pooling. The registers have passed check_window.
void check_pooling_window(const Registers& registers);

/// Throws ProgramError if a window lies wholly outside the image.
void check_windows_meet_image(const Registers& registers);

/// The geometry that the window.* registers describe; `row_bytes` is that of the unified buffer.
WindowGeometry window_geometry(const Registers& registers, std::uint64_t row_bytes);

/// Elements of a window.
std::uint64_t window_elements(const Registers& registers);

/// The rows of all images that the lines' windows lie in. The registers have passed check_window.
RowRange read_images(const Registers& registers, std::uint64_t first_row, LineRange lines,
                     std::uint64_t element_bytes, std::uint64_t row_bytes);

/// The place of a pixel's channels in the output of pooling.
struct PooledPixel {
    std::uint64_t bytes = 0;   ///< from one written pixel to the next
    std::uint64_t offset = 0;  ///< byte of the pixel at which the channels begin
};

/// The place given by activation.pixel_bytes, where 0 stands for packed channels, and
/// activation.channel_offset. Throws ProgramError if the channels do not fit in the pixel.
PooledPixel pooled_pixel(const Registers& registers);

/// The rows of output lines in an 8-bit tensor with pixels as in pooled_pixel and images
/// activation.image_rows rows apart.
RowRange written_lines(const Registers& registers, std::uint64_t first_row, LineRange lines,
                       std::uint64_t row_bytes);

}  // namespace systole::isa
