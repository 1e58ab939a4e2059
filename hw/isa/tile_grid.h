#pragma once

#include <cstdint>

namespace systole::isa {

/// The tiles of a machine of the family edge_tpu. All of them execute the same instructions, each on its own
/// part of the data.
struct TileGrid {
    std::uint32_t lines = 0;    ///< of tiles; 0: the program is for a machine without tiles
    std::uint32_t columns = 0;  ///< of tiles
    std::uint32_t lanes = 0;    ///< of a tile; a multiple of tile_unit_lanes
    std::uint32_t units = 0;    ///< of a tile's wide memory

    constexpr std::uint32_t tiles() const { return lines * columns; }

    bool operator==(const TileGrid&) const = default;
};

/// Elements that a lane multiplies and adds up in a cycle: those of a word of narrow memory.
inline constexpr std::uint32_t tile_word = 4;
/// Lanes whose weights of a cycle lie in a unit of wide memory.
inline constexpr std::uint32_t tile_unit_lanes = 16;
/// Bytes of a unit, by which wide memory is addressed. Units are numbered through all tiles: unit n is in
/// tile n mod tiles().
inline constexpr std::uint32_t tile_unit_bytes = tile_unit_lanes * tile_word;

}  // namespace systole::isa
