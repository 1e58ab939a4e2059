#pragma once

#include <cstdint>

#include "base/cycle.h"
#include "hw/isa/instruction.h"
#include "hw/isa/registers.h"
#include "hw/isa/tile_layout.h"
#include "hw/isa/weight_blocks.h"
#include "hw/machine/machine_config.h"

/// The cost of work in the units of the family edge_tpu (docs/timing.md, "Machines with tiles").
namespace systole::timing {

/// The tiles that programs for a machine are made for.
isa::TileGrid grid_of(const machine::MachineConfig& machine);

/// The pixels that an instruction computes of its result.
isa::TileArea area_of(const isa::TileLayout& result, bool with_margins);

/// A block of parameters goes over the ring in parts that fit a weight buffer.
struct BlockParts {
    std::uint64_t rows = 0;       ///< of the block
    std::uint64_t part_rows = 0;  ///< of each part but the last

    std::uint64_t count() const { return (rows + part_rows - 1) / part_rows; }
    /// The first row of a part, and of the part behind the last, the block's rows.
    std::uint64_t begin(std::uint64_t part) const {
        return part * part_rows < rows ? part * part_rows : rows;
    }
    std::uint64_t rows_of(std::uint64_t part) const { return begin(part + 1) - begin(part); }
};
BlockParts block_parts(std::uint64_t rows, const machine::MachineConfig& machine);

/// The work of tile_multiply in the tiles.
struct ProductCost {
    isa::TileProduct product = isa::TileProduct::Convolve;
    isa::WeightBlocks blocks;
    std::uint64_t pixels = 1;      ///< of the result, in the fullest tile
    std::uint64_t at_once = 1;     ///< pixels for which a tile has sums
    std::uint64_t all_pixels = 1;  ///< of the result, in all tiles
    std::uint64_t depthwise_rate = 1;
    std::uint64_t passes = 0;  ///< of a dense product: groups that a tile computes, in the fullest

    /// How often all blocks come: once for as many pixels as have sums at once.
    std::uint64_t repeats() const { return (pixels + at_once - 1) / at_once; }
    std::uint64_t pixels_of(std::uint64_t repeat) const {
        const std::uint64_t left = pixels - repeat * at_once;
        return left < at_once ? left : at_once;
    }
    /// Weight rows among rows [begin, end) of a block.
    std::uint64_t weight_rows(std::uint64_t begin, std::uint64_t end) const;
    /// Cycles of the tiles for the rows [begin, end) of a block of a convolution.
    Cycle convolution_cycles(std::uint64_t repeat, std::uint64_t begin, std::uint64_t end) const {
        return pixels_of(repeat) * weight_rows(begin, end);
    }
    /// The same of a depthwise product for so many of its multiply-accumulates in the fullest tile, which
    /// follow `before` others of the instruction.
    Cycle depthwise_cycles(std::uint64_t before, std::uint64_t macs) const;
    Cycle dense_cycles() const { return passes * blocks.weight_rows; }
    /// Cycles in which the tiles multiply, without any wait.
    Cycle cycles() const;
    /// Multiply-accumulates that the results need.
    std::uint64_t useful_macs() const { return all_pixels * blocks.outputs * blocks.weights; }
};
/// The registers are those bound to the instruction, whose footprint has been computed.
ProductCost product_cost(const isa::TileMultiply& multiply, const isa::Registers& registers,
                         const machine::MachineConfig& machine);

/// The steps of tile_vector: an element that a tile reads, or writes if it reads none more.
struct VectorSteps {
    std::uint64_t elements = 0;    ///< of the result, in the fullest tile
    std::uint64_t of_element = 1;  ///< steps for each
    std::uint64_t a_cycle = 1;

    Cycle cycles() const { return (elements * of_element + a_cycle - 1) / a_cycle; }
};
VectorSteps vector_steps(const isa::TileVector& vector, const isa::Registers& registers,
                         const machine::MachineConfig& machine);

/// Cycles of tile_vector in the tiles.
Cycle vector_cycles(const isa::TileVector& vector, const isa::Registers& registers,
                    const machine::MachineConfig& machine);

/// The bytes that collect sends over the ring: to one tile, and from there to all.
std::uint64_t collected_bytes(const isa::Collect& collect, const isa::Registers& registers,
                              const isa::TileGrid& grid);

/// The work of exchange in the mesh.
struct ExchangeCost {
    std::uint64_t bytes = 0;       ///< that reach margins, in all tiles
    std::uint64_t link_bytes = 0;  ///< over the links that carry most, up and down, then left and right
};
ExchangeCost exchange_cost(const isa::TileLayout& layout);

/// The work of move in the mesh.
struct MoveCost {
    std::uint64_t moved = 0;       ///< elements of the result that come from the source
    std::uint64_t written = 0;     ///< elements of the result
    std::uint64_t bytes = 0;       ///< that go from tile to tile
    std::uint64_t link_bytes = 0;  ///< over the links that carry most, or what the fullest tile writes
};
MoveCost move_cost(const isa::Move& move, const isa::Registers& registers, const isa::TileGrid& grid);
MoveCost permute_cost(const isa::Permute& permute, const isa::Registers& registers,
                      const isa::TileGrid& grid);

/// The whole cycles in which the ring, or a link of the mesh, moves so many bytes without a pause.
Cycle ring_cycles(std::uint64_t bytes, const machine::MachineConfig& machine);
Cycle mesh_cycles(std::uint64_t bytes, const machine::MachineConfig& machine);

}  // namespace systole::timing
