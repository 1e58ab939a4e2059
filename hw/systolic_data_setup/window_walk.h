#pragma once

#include <cstdint>

#include "hw/base/window_geometry.h"
#include "hw/isa/registers.h"
#include "hw/math/window.h"

namespace systole::hw {

/// The part of each window that one weight tile meets, and what it costs to fetch.
struct WindowPart {
    std::uint64_t begin = 0;     ///< first element of the window
    std::uint64_t elements = 0;  ///< at most the array's rows; 0 behind the window's end
};

/// What repetition r of a `convolve` streams.
WindowPart window_part(const isa::Registers& registers, std::uint32_t repetition, std::uint32_t array_rows);

/// Unified-buffer accesses that fetch one line of windows: each kernel row that the part takes
/// elements from for itself.
std::uint64_t fetches_of_line(const WindowGeometry& geometry, const WindowPart& part,
                              std::uint64_t element_bytes, std::uint64_t row_bytes);

}  // namespace systole::hw
