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
    isa::TileArea area;  ///< of the result: what is computed
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
    isa::TileArea area;  ///< of the result: what is computed
    InstructionNumber number = 0;
    Tag tag = 0;
};

/// A pixel of an area, as a tile sees it.
struct TilePixel {
    bool is_there = false;    ///< in the image
    std::int64_t line = 0;    ///< relative to the patch
    std::int64_t column = 0;  ///< relative to the patch
};
/// Pixel `index` of a tile's area, counted line by line.
inline TilePixel pixel_of(const isa::TileLayout& layout, const isa::TileArea& area, std::uint64_t tile,
                          std::uint64_t index) {
    const std::int64_t line = area.line(index / area.columns);
    const std::int64_t column = area.column(index % area.columns);
    return {.is_there = isa::image_pixel(layout, tile, line, column).is_in(layout),
            .line = line,
            .column = column};
}

}  // namespace systole::hw
