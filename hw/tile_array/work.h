#pragma once

#include <cstdint>
#include <memory>

#include "hw/common/counter.h"
#include "hw/common/order_checker.h"
#include "hw/isa/instruction.h"
#include "hw/isa/registers.h"
#include "hw/isa/tile_layout.h"
#include "hw/timing/tiles.h"

// What an instruction asks of the tiles: with the register values bound to it.
namespace systole::hw {

/// Multiply-accumulates of all lanes of all tiles in a cycle.
constexpr std::uint64_t macs_a_cycle(const isa::TileGrid& grid) {
    return std::uint64_t{grid.tiles()} * grid.lanes * isa::tile_word;
}

/// tile_multiply. Layouts and window are those of convolve and depthwise.
struct Product {
    isa::TileMultiply instruction;
    std::shared_ptr<const isa::Registers> registers;
    isa::TileGrid grid;
    timing::ProductCost cost;
    isa::TileLayout source;
    isa::TileLayout result;
    isa::TileWindow window;
    InstructionNumber number = 0;
    Tag tag = 0;

    bool is_dense() const { return instruction.product == isa::TileProduct::Dense; }
    std::int32_t source_zero_point() const { return registers->as_signed(isa::Register::SourceZeroPoint); }
    std::int32_t weight_zero_point() const {
        return registers->as_signed(isa::Register::MultiplyWeightZeroPoint);
    }
    /// The vector of a dense product's results.
    isa::LaneVector lanes() const {
        return {.grid = grid, .address = instruction.result, .elements = cost.blocks.outputs};
    }
};

/// tile_vector.
struct VectorWork {
    isa::TileVector instruction;
    std::shared_ptr<const isa::Registers> registers;
    isa::TileGrid grid;
    isa::TileLayout source;
    isa::TileLayout other;
    isa::TileLayout result;
    isa::TileWindow window;
    InstructionNumber number = 0;
    Tag tag = 0;
};

/// A pixel of the fullest tile's patch, as all tiles see it.
struct TilePixel {
    bool is_there = false;  ///< in the image
    std::uint64_t line = 0;
    std::uint64_t column = 0;
};
/// Pixel `index` of a tile's patch, counted line by line in the fullest tile's.
inline TilePixel pixel_of(const isa::TileLayout& layout, std::uint64_t tile, std::uint64_t index) {
    const std::uint64_t line = tile / layout.grid.columns * layout.own_lines() + index / layout.own_columns();
    const std::uint64_t column =
        tile % layout.grid.columns * layout.own_columns() + index % layout.own_columns();
    return {.is_there = line < layout.lines && column < layout.columns, .line = line, .column = column};
}
/// Where the tile keeps it.
inline std::uint64_t address_of(const isa::TileLayout& layout, std::uint64_t index) {
    return layout.at(layout.top + index / layout.own_columns(), layout.left + index % layout.own_columns());
}

}  // namespace systole::hw
