#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "hw/isa/footprint.h"
#include "hw/isa/host_processor.h"
#include "hw/isa/program.h"
#include "hw/isa/registers.h"
#include "hw/isa/tile_layout.h"
#include "sim/functional/host_memory.h"
#include "sim/functional/memory.h"
#include "sim/functional/tiles/block_queue.h"

namespace systole::functional {

/// Numbers of a machine with tiles that its program does not say.
struct TileSizes {
    std::uint64_t narrow_bytes = 0;  ///< of a tile's narrow memory; at least 1
    std::uint64_t positions = 0;     ///< pixels that a tile has sums for at once; at least 1
};

/// All that the instructions of a machine with tiles read and write. Its memories begin as zeros.
struct TileState {
    TileState(const isa::Program& executed, const TileSizes& machine, HostMemory& host_memory,
              isa::HostProcessor* host_processor);

    /// Throws ProgramError if the memories end before the footprint does.
    void check_fits(const isa::Footprint& touched) const;

    /// A byte of a tile's narrow memory.
    std::uint8_t& narrow_byte(std::uint64_t tile, std::uint64_t address) {
        return narrow_memory.rows(tile, 1)[address];
    }

    const isa::Program& program;
    isa::TileGrid grid;
    isa::Registers registers;
    HostMemory& host;
    isa::HostProcessor* processor;          ///< null if there is none
    RowMemory<std::uint8_t> narrow_memory;  ///< a row for each tile
    RowMemory<std::uint8_t> wide_memory;    ///< in units, through all tiles
    std::uint64_t positions;
    BlockQueue staged;   ///< sent by stream_parameters
    BlockQueue on_ring;  ///< sent by multicast
};

/// A pixel of an image, by line and column from 0; below 0 it lies outside.
struct Pixel {
    std::int64_t line = 0;
    std::int64_t column = 0;
};

/// The pixel of the source at the upper left of the window of a result's pixel.
Pixel window_corner(const isa::TileWindow& window, const Pixel& result);

/// Where the pixels of an image lie: "Tensors over tiles" of docs/isa.md.
class TiledImage {
public:
    explicit TiledImage(const isa::TileLayout& layout);

    std::int64_t lines() const { return lines_; }
    std::int64_t columns() const { return columns_; }
    std::int64_t channels() const { return channels_; }

    bool has(const Pixel& pixel) const {
        return pixel.line >= 0 && pixel.line < lines_ && pixel.column >= 0 && pixel.column < columns_;
    }
    /// The tile that owns a pixel of the image.
    std::uint64_t owner(const Pixel& pixel) const;
    /// The address, in what a tile stores, of the first channel of a pixel that it stores: its own, or one of
    /// its margins. Throws std::logic_error for other pixels.
    std::uint64_t address(std::uint64_t tile, const Pixel& pixel) const;
    /// The pixels that a tile computes of a result: those that it owns and stores, or with margins all that
    /// it stores. Some may lie outside the image; pixels of the same place in all tiles follow each other
    /// alike.
    std::vector<Pixel> computed(std::uint64_t tile, bool with_margins) const;
    /// The first pixel that a tile stores, and the one behind the last, at the lower right.
    std::pair<Pixel, Pixel> stored(std::uint64_t tile) const;

private:
    std::int64_t tile_columns_;
    std::int64_t first_address_;
    std::int64_t lines_;
    std::int64_t columns_;
    std::int64_t channels_;
    std::int64_t pixel_bytes_;
    std::int64_t own_lines_;
    std::int64_t own_columns_;
    std::int64_t top_;
    std::int64_t bottom_;
    std::int64_t left_;
    std::int64_t right_;
};

}  // namespace systole::functional
