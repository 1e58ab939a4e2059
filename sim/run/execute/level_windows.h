#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/cycle.h"

namespace systole::run {

/// The peak of an occupancy in each window; the last window ends with the run.
struct Levels {
    Cycle window_cycles = 1;
    std::vector<std::uint64_t> windows = {};
};

/// Follows an occupancy that rises and falls, and keeps its peak in each window. If a run is longer than all
/// windows, their length is doubled, so memory does not grow with the run.
class LevelWindows {
public:
    /// Calls come in the order of time. Changes in one cycle count together, because their order within the
    /// cycle is not a property of the chip.
    void change(Cycle at, std::int64_t amount);

    /// The result for a run of this many cycles; the current occupancy lasts to its end.
    Levels until(Cycle cycles) &&;

private:
    void hold_until(Cycle end);
    void merge_pairs();

    Levels most_;
    std::uint64_t held_ = 0;
    Cycle since_ = 0;  ///< the windows include all cycles before this one
};

}  // namespace systole::run
