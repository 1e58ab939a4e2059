#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/run/record/record.h"

/// What lay in the chip's memories, from when to when: found from a run's times.
namespace systole::occupancy {

/// As many points as a chart can show, and a report should hold. Even: windows are merged in pairs.
inline constexpr std::size_t most_windows = 500;

using run::MostHeld;

/// What is held goes up and down, and the most of it in each window is kept. A run that outgrows the windows
/// makes them twice as long, so that memory does not grow with it.
class LevelWindows {
public:
    /// In the order of time. Changes in one cycle count together: in which order they are told is nothing
    /// that a chip has.
    void change(Cycle at, std::int64_t amount);

    /// Of a run of so many cycles; what is held still is held to its end.
    MostHeld until(Cycle cycles) &&;

private:
    void hold_until(Cycle end);
    void merge_pairs();

    MostHeld most_;
    std::uint64_t held_ = 0;
    Cycle since_ = 0;  ///< the windows know of the cycles before
};

}  // namespace systole::occupancy
