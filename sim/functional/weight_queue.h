#pragma once

#include <cstdint>
#include <deque>
#include <span>

#include "hw/isa/program.h"

namespace systole::functional {

/// The weight tiles between `read_weights` and the array, in the order of their fetches. Without time, its
/// depth is unlimited.
class WeightQueue {
public:
    explicit WeightQueue(std::span<const isa::WeightTile> tiles) : tiles_(tiles) {}

    /// Appends `count` tiles. They are tiles of the program.
    void fetch(std::uint32_t first, std::uint32_t count) { fetched_.push_back({first, count}); }
    /// Switches to the oldest tile not yet used. Throws ProgramError if there is none.
    const isa::WeightTile& next();
    /// The tile last switched to. Throws ProgramError if there is none.
    const isa::WeightTile& current() const;

private:
    /// The part of a fetch that has not been used yet.
    struct Fetch {
        std::uint32_t first = 0;
        std::uint32_t count = 0;
    };

    std::span<const isa::WeightTile> tiles_;
    std::deque<Fetch> fetched_;
    const isa::WeightTile* current_ = nullptr;
};

}  // namespace systole::functional
