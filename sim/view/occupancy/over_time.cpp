#include <algorithm>
#include <iterator>

#include "base/arithmetic.h"
#include "sim/view/occupancy/occupancy.h"

namespace systole::occupancy {

Changes changes_of(std::span<const RowValue> values, Cycle cycles) {
    Changes changes;
    changes.reserve(2 * values.size());
    for (const RowValue& value : values) {
        const Cycle end = std::min(value.end, cycles);
        if (value.begin >= end) continue;
        const auto rows = static_cast<std::int64_t>(value.rows.count());
        changes.push_back({.at = value.begin, .amount = rows});
        changes.push_back({.at = end, .amount = -rows});
    }
    std::sort(changes.begin(), changes.end(),
              [](const Change& one, const Change& other) { return one.at < other.at; });
    // One change a cycle, the sum: rows that are freed in a cycle make room for those taken in it.
    auto last = changes.begin();
    for (const Change& change : changes) {
        if (last == changes.begin() || std::prev(last)->at != change.at) {
            *last++ = change;
        } else {
            std::prev(last)->amount += change.amount;
        }
    }
    changes.erase(last, changes.end());
    return changes;
}

std::vector<std::uint64_t> most_held(const Changes& changes, Cycle cycles, Cycle window_cycles) {
    std::vector<std::uint64_t> most(divide_up(cycles, window_cycles));
    std::int64_t held = 0;
    Cycle since = 0;
    const auto hold_until = [&](Cycle end) {
        if (since == end) return;
        for (Cycle window = since / window_cycles; window <= (end - 1) / window_cycles; ++window) {
            most[window] = std::max(most[window], static_cast<std::uint64_t>(held));
        }
        since = end;
    };
    for (const Change& change : changes) {
        hold_until(change.at);
        held += change.amount;
    }
    hold_until(cycles);
    return most;
}

}  // namespace systole::occupancy
