#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/cycle.h"
#include "hw/common/counter.h"
#include "hw/isa/footprint.h"
#include "hw/isa/tile_grid.h"

// How the units of the family edge_tpu see each other.
namespace systole::hw {

/// The end of the rows of a memory in a footprint.
inline std::uint64_t end_of_rows(const isa::Footprint& footprint, isa::MemoryId memory) {
    std::uint64_t end = 0;
    for (const isa::MemoryRows& rows : footprint) {
        if (rows.memory == memory && !rows.rows.empty()) end = std::max(end, rows.rows.last);
    }
    return end;
}

/// The narrow memories of the tiles. The sequencer refuses programs with bytes out of range.
class NarrowMemoryAccess {
public:
    virtual ~NarrowMemoryAccess() = default;
    /// The bytes of a tile, from address 0 on.
    virtual std::uint8_t* of_tile(std::size_t tile) = 0;
    /// Bytes of all tiles that were read, and written.
    virtual void count_reads(std::uint64_t bytes, Tag tag) = 0;
    virtual void count_writes(std::uint64_t bytes, Tag tag) = 0;
    /// Notes which addresses an instruction uses.
    virtual void touch(const isa::Footprint& footprint) = 0;
};

/// The wide memories of the tiles, as one.
class WideMemoryAccess {
public:
    virtual ~WideMemoryAccess() = default;
    /// The bytes from a unit on.
    virtual std::uint8_t* from_unit(std::uint64_t unit) = 0;
    virtual void count_reads(std::uint64_t bytes, Tag tag) = 0;
    virtual void count_writes(std::uint64_t bytes, Tag tag) = 0;
    /// Notes which units an instruction uses.
    virtual void touch(const isa::Footprint& footprint) = 0;
};

/// A part of a block of parameters, as it fits a weight buffer.
struct WeightPart {
    std::uint64_t block = 0;  ///< the address of its block: a unit, or a byte of host memory
    bool streamed = false;    ///< that address is one of host memory
    std::uint64_t first_row = 0;
    std::uint64_t rows = 0;
    std::uint64_t row_units = 0;
    Cycle whole_at = 0;                     ///< all of it has arrived
    std::vector<std::uint8_t> values = {};  ///< only where the engine moves every word

    std::uint64_t bytes() const { return rows * row_units * isa::tile_unit_bytes; }
};

/// The ring as the tiles see it.
class WeightParts {
public:
    virtual ~WeightParts() = default;
    /// Waits until the next part is whole. It keeps its buffer until `release`.
    virtual const WeightPart& next() = 0;
    virtual void release() = 0;
};

/// The staging buffer as the ring sees it.
class StagedParts {
public:
    virtual ~StagedParts() = default;
    /// Waits until the next part is whole. It keeps its place until `release`.
    virtual const WeightPart& next() = 0;
    virtual void release() = 0;
};

/// The memories of all tiles, as the units that use both see them.
struct TileMemories {
    NarrowMemoryAccess& narrow;
    WideMemoryAccess& wide;
};

}  // namespace systole::hw
