#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "hw/isa/instruction.h"
#include "hw/isa/panels.h"

namespace systole::hw {

/// The elements that a product streams, as they lie in vector memory.
struct ProductRows {
    const std::uint32_t* memory = nullptr;  ///< row 0
    std::uint64_t lanes = 0;
    isa::Panels panels = {};
    std::optional<isa::PixelWindows> windows = {};
    std::uint64_t first = 0;  ///< element of a row, or of a window
    std::uint64_t rows = 0;
    std::uint64_t depth = 0;
    unsigned part = 0;

    std::size_t bytes() const { return rows * depth * sizeof(float); }
    /// Writes them without gaps, row by row, as the array multiplies them: bfloat16 in float32.
    void write(float* out) const;

private:
    /// Columns [from, from + count) of a row of the matrix.
    void take(std::uint64_t row, std::uint64_t from, std::uint64_t count, float* out) const;
    void take_window(std::uint64_t window, float* out) const;
};

}  // namespace systole::hw
