#pragma once

#include <cstdint>
#include <vector>

/// Windows over an image with zeros between its pixels: which windows meet which taps.
namespace systole::operators {

/// One direction of a convolution.
struct SpreadWindows {
    std::uint32_t pixels = 1;  ///< without the zeros between them
    std::uint32_t spread = 1;  ///< from a pixel to the next
    std::uint32_t kernel = 1;
    std::uint32_t stride = 1;
    std::uint32_t pad = 0;  ///< before the first pixel
    std::uint32_t dilation = 1;
    std::uint32_t outputs = 1;

    /// The place of a tap of an output's window in the spread image.
    std::int64_t place_of(std::uint32_t output, std::uint32_t tap) const {
        return std::int64_t{output} * stride + std::int64_t{tap} * dilation - pad;
    }
};

/// The outputs whose windows meet the same taps, and these: the taps that fall on a pixel of the image or of
/// its border, not on a zero between pixels.
struct TapPhase {
    std::vector<std::uint32_t> taps;     ///< of the kernel; equally far apart
    std::vector<std::uint32_t> outputs;  ///< likewise
};
/// Phases with outputs. Takes no time and memory for the zeros, of which there may be very many; but there
/// may be as many phases as outputs.
std::vector<TapPhase> phases_of(const SpreadWindows& windows);
std::uint64_t phase_count(const SpreadWindows& windows);

/// The taps that all windows meet together. Takes time for taps or windows alone, whichever are fewer.
std::uint64_t met_taps(const SpreadWindows& windows);

}  // namespace systole::operators
