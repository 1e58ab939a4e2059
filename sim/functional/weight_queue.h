#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>

#include "hw/isa/program.h"

namespace systole::functional {

/// Weight memory, and the tiles between `read_weights` and the array in the order of their fetches. A tile
/// enters the array as it was when it was fetched. Without time, the depth is unlimited.
class WeightQueue {
public:
    explicit WeightQueue(std::span<const isa::WeightTile> tiles) : tiles_(tiles) {}

    /// Appends `count` tiles. They are tiles of the program.
    void fetch(std::uint32_t first, std::uint32_t count) { fetched_.push_back({first, count, writes_}); }
    /// Replaces the contents of a tile.
    void write(std::uint32_t number, isa::WeightTile tile);
    /// Switches to the oldest tile not yet used. Throws ProgramError if there is none.
    const isa::WeightTile& next();
    /// The tile last switched to. Throws ProgramError if there is none.
    const isa::WeightTile& current() const;

private:
    using Contents = std::shared_ptr<const isa::WeightTile>;
    /// The part of a fetch that has not been used yet.
    struct Fetch {
        std::uint32_t first = 0;
        std::uint32_t count = 0;
        std::uint64_t writes = 0;  ///< that came before it
    };
    struct Version {
        std::uint64_t write = 0;  ///< its number, from 1
        Contents contents;
    };

    Contents contents_of(std::uint32_t number, std::uint64_t writes) const;

    std::span<const isa::WeightTile> tiles_;
    std::map<std::uint32_t, std::deque<Version>> written_;  ///< by tile; those that may still be used
    std::uint64_t writes_ = 0;
    std::deque<Fetch> fetched_;
    Contents current_;
};

}  // namespace systole::functional
