#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/view/occupancy/row_values.h"

namespace systole::occupancy {

/// A memory holds so much more, or less, from a cycle on.
struct Change {
    Cycle at = 0;
    std::int64_t amount = 0;

    bool operator==(const Change&) const = default;
};

/// How much a memory holds, from nothing: in the order of time, one a cycle.
using Changes = std::vector<Change>;

/// Values hold their rows, each from its begin to its end or to the end of the run.
Changes changes_of(std::span<const RowValue> values, Cycle cycles);

/// The most that was held at once in each window of `window_cycles` from cycle 0 to `cycles`; the last
/// window ends with the run. `window_cycles` is at least 1; nothing changes behind `cycles`.
std::vector<std::uint64_t> most_held(const Changes& changes, Cycle cycles, Cycle window_cycles);

}  // namespace systole::occupancy
