#include "compiler/emit/access_history.h"

#include <algorithm>

namespace systole::emit {

void AccessHistory::find_conflicts(const isa::RowRange& rows, Access access, UnitPositions& latest) const {
    if (rows.empty()) return;
    auto segment = std::prev(segments_.upper_bound(rows.first));
    for (; segment != segments_.end() && segment->first < rows.last; ++segment) {
        const Segment& history = segment->second;
        latest[history.writer] = std::max(latest[history.writer], history.written);
        if (access == Access::Read) continue;
        for (std::size_t unit = 0; unit < isa::unit_count; ++unit) {
            latest[unit] = std::max(latest[unit], history.read[unit]);
        }
    }
}

void AccessHistory::record(const isa::RowRange& rows, Access access, isa::Unit unit, Position position) {
    if (rows.empty()) return;
    const auto first = split(rows.first);
    const auto end = split(rows.last);
    const auto index = static_cast<std::size_t>(unit);
    if (access == Access::Write) {
        first->second = {.writer = index, .written = position, .read = {}};
        segments_.erase(std::next(first), end);
        return;
    }
    for (auto segment = first; segment != end; ++segment) segment->second.read[index] = position;
}

std::map<std::uint64_t, AccessHistory::Segment>::iterator AccessHistory::split(std::uint64_t row) {
    const auto behind = segments_.upper_bound(row);
    const auto segment = std::prev(behind);
    return segment->first == row ? segment : segments_.emplace_hint(behind, row, segment->second);
}

}  // namespace systole::emit
