#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/occupancy/row_values.h"
#include "sim/occupancy/span_recorder.h"

namespace systole::occupancy {

/// So much of a memory was taken in the cycles [begin, end).
struct Holding {
    Cycle begin = 0;
    Cycle end = 0;
    std::uint64_t amount = 0;
};

/// The most that was held at once in each window of `window_cycles` from cycle 0 to `cycles`; the last
/// window ends with the run. `window_cycles` is at least 1.
std::vector<std::uint64_t> most_held(const std::vector<Holding>& holdings, Cycle cycles, Cycle window_cycles);

/// A value holds its rows, a tile one slot.
std::vector<Holding> holdings_of(std::span<const RowValue> values);
std::vector<Holding> holdings_of(std::span<const TileSpan> tiles);

}  // namespace systole::occupancy
