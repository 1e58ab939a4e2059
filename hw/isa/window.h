#pragma once

#include <cstdint>

#include "hw/base/window_geometry.h"
#include "hw/isa/footprint.h"

// What the window.* registers mean for the rows an instruction touches.
namespace systole::isa {

/// Output lines [first, first + count), numbered through the images.
struct LineRange {
    std::uint64_t first = 0;
    std::uint64_t count = 0;  ///< at least 1
};

/// Sizes, strides and padding of the window.* registers, and channels; so that no position in a tensor
/// overflows 64 bits.
inline constexpr std::uint32_t largest_window_side = (1U << 16U) - 1;
inline constexpr std::uint32_t largest_window_channels = (1U << 24U) - 1;

/// Throws ProgramError if a size, kernel size or stride of the window.* registers is 0 or too large.
void check_window(const Registers& registers);

/// Throws ProgramError if a window is larger than pooling takes. The registers have passed check_window.
void check_pooling_window(const Registers& registers);

/// Throws ProgramError if the registers make windows that lie wholly outside the image.
void check_windows_meet_image(const Registers& registers);

/// What the window.* registers say; `row_bytes` is of the unified buffer.
WindowGeometry window_geometry(const Registers& registers, std::uint64_t row_bytes);

/// Elements of a window.
std::uint64_t window_elements(const Registers& registers);

/// The whole images the lines' windows lie in. The registers have passed check_window.
RowRange read_images(const Registers& registers, std::uint64_t first_row, LineRange lines,
                     std::uint64_t element_bytes, std::uint64_t row_bytes);

/// Where pooling writes the channels of a pixel.
struct PooledPixel {
    std::uint64_t bytes = 0;   ///< from one written pixel to the next
    std::uint64_t offset = 0;  ///< byte of the pixel at which the channels begin
};

/// activation.pixel_bytes and activation.channel_offset as pooling reads them: 0 bytes are packed channels.
/// Throws ProgramError if the channels end behind the pixel.
PooledPixel pooled_pixel(const Registers& registers);

/// The rows of the lines in an 8-bit output tensor of pooled_pixel, activation.image_rows from image to
/// image.
RowRange written_lines(const Registers& registers, std::uint64_t first_row, LineRange lines,
                       std::uint64_t row_bytes);

}  // namespace systole::isa
