#pragma once

#include <cstdint>

#include "hw/isa/instructions/tile_vector.h"
#include "hw/isa/tile_layout.h"

// Where the pixels of an interpolated image lie in its source (docs/isa.md, "tile_vector").
namespace systole::isa {

/// The rule of one instruction, for lines and columns.
struct Interpolation {
    bool in_float = false;  ///< places are float32; else they have 10 fractional bits
    bool half_pixel = false;
    bool align_corners = false;
};
Interpolation interpolation_of(const TileVector& vector);

/// Of a line, or column, of the result: the two of the source around its place, and how much the second one
/// counts.
struct InterpolatedPlace {
    std::int64_t lower = 0;
    std::int64_t upper = 0;
    std::int64_t share = 0;    ///< in 1/1024
    float float_share = 0.0F;  ///< with `in_float`
};
InterpolatedPlace interpolated_place(const Interpolation& rule, std::uint64_t inputs, std::uint64_t outputs,
                                     std::uint64_t output);

/// The area of the source around an area's pixels in the result's image, over all tiles. Without pixels if
/// there are none.
TileArea corners_under(const TileLayout& source, const TileLayout& result, const TileArea& area,
                       const Interpolation& rule);
/// Throws ProgramError unless tiles store what the pixels of an area in the result's image come from.
void check_corners_are_stored(const TileLayout& source, const TileLayout& result, const TileArea& area,
                              const Interpolation& rule);

}  // namespace systole::isa
