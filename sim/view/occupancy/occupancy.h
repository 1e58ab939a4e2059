#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sim/run/record/record.h"

/// The occupancy of the chip's memories over time.
namespace systole::occupancy {

using run::RowValue;

/// The change of a memory's occupancy from this cycle on; negative if it falls.
struct Change {
    Cycle at = 0;
    std::int64_t amount = 0;

    bool operator==(const Change&) const = default;
};

/// The changes of a memory that is empty at first: in the order of time, at most one for each cycle.
using Changes = std::vector<Change>;

/// The changes that values make: each occupies its rows from its begin to its end, or to the end of the run.
Changes changes_of(std::span<const RowValue> values, Cycle cycles);

/// Peak occupancy in each window of `window_cycles` from cycle 0 to `cycles`; the last window ends with the
/// run. `window_cycles` is at least 1; there are no changes after `cycles`.
std::vector<std::uint64_t> most_held(const Changes& changes, Cycle cycles, Cycle window_cycles);

/// Values of one turn in adjacent rows that existed at the same time. They form a shape of rows over time, in
/// adjacent steps from the lowest row to the highest.
using Shape = std::vector<RowValue>;

/// Passes on the shapes of the values one after the other, because a run may have more than fit in memory.
/// Shapes are sorted like values, by turn, then row. Neighbouring steps whose lives begin and end within
/// `tolerance` cycles are merged into one, whose life covers theirs.
void for_each_shape(std::span<const RowValue> values, Cycle tolerance,
                    const std::function<void(Shape&&)>& take);

}  // namespace systole::occupancy
