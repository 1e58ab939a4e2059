#pragma once

#include <cstdint>

#include "hw/isa/instructions/tile_multiply.h"
#include "hw/isa/registers.h"
#include "hw/isa/tile_grid.h"

// The blocks of parameters of tile_multiply (docs/isa.md, "Blocks of parameters").
namespace systole::isa {

/// The blocks of a product, one for each group of as many output channels as a tile has lanes. A row of a
/// block has tile_word bytes for each of its lanes: first a row of int32 biases, then with `by_channel` the
/// rows of multipliers (float32; or int32, then int32 shifts; or the lower, then the upper words of float64),
/// then the weights: byte q of lane n in row r is weight tile_word * r + q of the lane's output channel.
/// Weights are in the order kernel line, kernel column, channel; those behind the last one are not used.
struct WeightBlocks {
    std::uint64_t outputs = 0;  ///< channels
    std::uint64_t weights = 0;  ///< of an output channel
    std::uint64_t groups = 0;
    std::uint64_t lanes = 0;           ///< of a group in its block; of the last group, some are not used
    std::uint64_t parameter_rows = 0;  ///< of a block, before its weights
    std::uint64_t weight_rows = 0;     ///< of a block

    std::uint64_t rows() const { return parameter_rows + weight_rows; }
    std::uint64_t row_bytes() const { return lanes * tile_word; }
    std::uint64_t row_units() const { return lanes / tile_unit_lanes; }
    std::uint64_t block_units() const { return rows() * row_units(); }
    std::uint64_t block_bytes() const { return rows() * row_bytes(); }
    /// Output channels of a group.
    std::uint64_t outputs_of(std::uint64_t group, const TileGrid& grid) const {
        const std::uint64_t first = group * grid.lanes;
        return outputs - first < grid.lanes ? outputs - first : grid.lanes;
    }
};

/// The blocks of an instruction. Throws ProgramError if registers are 0 that must not be.
WeightBlocks weight_blocks(const TileMultiply& multiply, const Registers& registers, const TileGrid& grid);

/// Unit `unit` of the block of a group of a dense product, whose blocks begin at unit `parameters` of each
/// tile: its number through all tiles.
inline std::uint64_t dense_unit(const WeightBlocks& blocks, const TileGrid& grid, std::uint64_t parameters,
                                std::uint64_t group, std::uint64_t unit) {
    const std::uint64_t in_tile = parameters + group / grid.tiles() * blocks.block_units() + unit;
    return in_tile * grid.tiles() + group % grid.tiles();
}

/// Groups of a dense product that a tile computes one after the other, in the tile with the most.
inline std::uint64_t dense_passes(const WeightBlocks& blocks, const TileGrid& grid) {
    return (blocks.groups + grid.tiles() - 1) / grid.tiles();
}

}  // namespace systole::isa
