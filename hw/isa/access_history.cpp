#include "hw/isa/access_history.h"

#include <algorithm>
#include <iterator>

namespace systole::isa {

void AccessHistory::find_conflicts(const RowRange& rows, Access access, UnitPositions& latest) const {
    if (rows.empty()) return;
    auto segment = std::prev(segments_.upper_bound(rows.first));
    for (; segment != segments_.end() && segment->first < rows.last; ++segment) {
        const Segment& history = segment->second;
        latest[history.writer] = std::max(latest[history.writer], history.written);
        if (access == Access::Read) continue;
        for (std::size_t unit = 0; unit < unit_count; ++unit) {
            latest[unit] = std::max(latest[unit], history.read[unit]);
        }
    }
}

void AccessHistory::record(const RowRange& rows, Access access, Unit unit, Position position) {
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

std::pmr::map<std::uint64_t, AccessHistory::Segment>::iterator AccessHistory::split(std::uint64_t row) {
    const auto behind = segments_.upper_bound(row);
    const auto segment = std::prev(behind);
    return segment->first == row ? segment : segments_.emplace_hint(behind, row, segment->second);
}

Conflicts ProgramHistory::conflicts(const Footprint& footprint) const {
    Conflicts found;
    buffer_.find_conflicts(footprint.buffer_read, Access::Read, found.buffer);
    buffer_.find_conflicts(footprint.buffer_read_other, Access::Read, found.buffer);
    buffer_.find_conflicts(footprint.buffer_read_table, Access::Read, found.buffer);
    buffer_.find_conflicts(footprint.buffer_write, Access::Write, found.buffer);
    accumulators_.find_conflicts(footprint.accumulator_read, Access::Read, found.accumulators);
    accumulators_.find_conflicts(footprint.accumulator_write, Access::Write, found.accumulators);
    host_.find_conflicts(footprint.host_read, Access::Read, found.any);
    host_.find_conflicts(footprint.host_write, Access::Write, found.any);
    for (const HostRange& range : footprint.host_ranges()) {
        host_.find_conflicts(range.bytes, range.is_written ? Access::Write : Access::Read, found.any);
    }
    for (std::size_t unit = 0; unit < unit_count; ++unit) {
        found.any[unit] = std::max({found.any[unit], found.buffer[unit], found.accumulators[unit]});
    }
    return found;
}

void ProgramHistory::record(const Footprint& footprint, Unit unit, Position position) {
    buffer_.record(footprint.buffer_read, Access::Read, unit, position);
    buffer_.record(footprint.buffer_read_other, Access::Read, unit, position);
    buffer_.record(footprint.buffer_read_table, Access::Read, unit, position);
    buffer_.record(footprint.buffer_write, Access::Write, unit, position);
    accumulators_.record(footprint.accumulator_read, Access::Read, unit, position);
    accumulators_.record(footprint.accumulator_write, Access::Write, unit, position);
    host_.record(footprint.host_read, Access::Read, unit, position);
    host_.record(footprint.host_write, Access::Write, unit, position);
    for (const HostRange& range : footprint.host_ranges()) {
        host_.record(range.bytes, range.is_written ? Access::Write : Access::Read, unit, position);
    }
}

}  // namespace systole::isa
