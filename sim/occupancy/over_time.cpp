#include "sim/occupancy/over_time.h"

#include <algorithm>
#include <tuple>

namespace systole::occupancy {
namespace {

/// A memory holds more, or less, from a cycle on.
struct Change {
    Cycle at = 0;
    bool is_more = false;  ///< what ends in a cycle makes room for what begins in it
    std::uint64_t amount = 0;

    bool operator<(const Change& other) const {
        return std::tie(at, is_more) < std::tie(other.at, other.is_more);
    }
};

std::vector<Change> changes_of(const std::vector<Holding>& holdings, Cycle cycles) {
    std::vector<Change> changes;
    changes.reserve(2 * holdings.size());
    for (const Holding& holding : holdings) {
        const Cycle end = std::min(holding.end, cycles);
        if (holding.begin >= end) continue;
        changes.push_back({.at = holding.begin, .is_more = true, .amount = holding.amount});
        changes.push_back({.at = end, .is_more = false, .amount = holding.amount});
    }
    std::sort(changes.begin(), changes.end());
    return changes;
}

}  // namespace

std::vector<std::uint64_t> most_held(const std::vector<Holding>& holdings, Cycle cycles,
                                     Cycle window_cycles) {
    std::vector<std::uint64_t> most((cycles + window_cycles - 1) / window_cycles);
    std::uint64_t held = 0;
    Cycle since = 0;
    const auto hold_until = [&](Cycle end) {
        if (since == end) return;
        for (Cycle window = since / window_cycles; window <= (end - 1) / window_cycles; ++window) {
            most[window] = std::max(most[window], held);
        }
        since = end;
    };
    for (const Change& change : changes_of(holdings, cycles)) {
        hold_until(change.at);
        held = change.is_more ? held + change.amount : held - change.amount;
    }
    hold_until(cycles);
    return most;
}

std::vector<Holding> holdings_of(std::span<const RowValue> values) {
    std::vector<Holding> holdings;
    holdings.reserve(values.size());
    for (const RowValue& value : values) holdings.push_back({value.begin, value.end, value.rows.count()});
    return holdings;
}

std::vector<Holding> holdings_of(std::span<const TileSpan> tiles) {
    std::vector<Holding> holdings;
    holdings.reserve(tiles.size());
    for (const TileSpan& tile : tiles) holdings.push_back({tile.fetched, tile.shifted, 1});
    return holdings;
}

}  // namespace systole::occupancy
