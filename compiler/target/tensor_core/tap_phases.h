#pragma once

#include <cstdint>
#include <vector>

/// Windows over an image with zeros between its pixels, without these zeros.
namespace systole::tensor_core {

/// One direction of a convolution.
struct SpreadWindows {
    std::uint32_t pixels = 1;  ///< without the zeros
    std::uint32_t spread = 1;  ///< from a pixel to the next; the zeros between them are left out
    std::uint32_t kernel = 1;
    std::uint32_t stride = 1;
    std::uint32_t pad = 0;  ///< before the first pixel
    std::uint32_t dilation = 1;
    std::uint32_t outputs = 1;
};

/// Outputs that meet the same taps, which fall on pixels or outside the image: windows over the pixels alone.
struct TapPhase {
    std::vector<std::uint32_t> taps;     ///< of the kernel; equally far apart
    std::vector<std::uint32_t> outputs;  ///< likewise
    std::uint32_t skipped = 0;           ///< pixels before the one at which the first window may begin
    std::uint32_t pad = 0;
    std::uint32_t stride = 1;
    std::uint32_t dilation = 1;
};
std::vector<TapPhase> phases_of(const SpreadWindows& windows);

}  // namespace systole::tensor_core
