#include "hw/isa/access_history.h"

#include <algorithm>
#include <iterator>

namespace systole::isa {

void AccessHistory::find_conflicts(const RowRange& rows, Access access, QueuePositions& latest) const {
    if (rows.empty()) return;
    auto segment = std::prev(segments_.upper_bound(rows.first));
    for (; segment != segments_.end() && segment->first < rows.last; ++segment) {
        const Segment& history = segment->second;
        latest[history.writer] = std::max(latest[history.writer], history.written);
        if (access == Access::Read) continue;
        for (std::size_t queue = 0; queue < queue_count; ++queue) {
            latest[queue] = std::max(latest[queue], history.read[queue]);
        }
    }
}

void AccessHistory::record(const RowRange& rows, Access access, QueueId queue, Position position) {
    if (rows.empty()) return;
    const auto first = split(rows.first);
    const auto end = split(rows.last);
    const auto index = static_cast<std::size_t>(queue);
    if (access == Access::Write) {
        first->second = {.writer = index, .written = position, .read = {}};
        segments_.erase(std::next(first), end);
        return;
    }
    // Segments that only the last reads of this queue told apart are one: rows that many transfers read, each
    // a little further, are few segments.
    first->second.read[index] = position;
    for (auto before = first, segment = std::next(first); segment != end;) {
        segment->second.read[index] = position;
        if (segment->second == before->second) {
            segment = segments_.erase(segment);
        } else {
            before = segment++;
        }
    }
}

std::pmr::map<std::uint64_t, AccessHistory::Segment>::iterator AccessHistory::split(std::uint64_t row) {
    const auto behind = segments_.upper_bound(row);
    const auto segment = std::prev(behind);
    return segment->first == row ? segment : segments_.emplace_hint(behind, row, segment->second);
}

QueuePositions ProgramHistory::latest(const Footprint& footprint) const {
    QueuePositions found{};
    for (const MemoryRows& each : footprint) {
        memories_[index_of(each.memory)].find_conflicts(each.rows, each.access, found);
    }
    return found;
}

Conflicts ProgramHistory::conflicts(const Footprint& footprint) const {
    Conflicts found;
    for (const MemoryRows& each : footprint) {
        const std::size_t memory = index_of(each.memory);
        memories_[memory].find_conflicts(each.rows, each.access, found.by_memory[memory]);
    }
    for (const MemoryRows& each : footprint) {
        const QueuePositions& positions = found.in(each.memory);
        for (std::size_t queue = 0; queue < queue_count; ++queue) {
            found.any[queue] = std::max(found.any[queue], positions[queue]);
        }
    }
    return found;
}

void ProgramHistory::record(const Footprint& footprint, QueueId queue, Position position) {
    for (const MemoryRows& each : footprint) {
        memories_[index_of(each.memory)].record(each.rows, each.access, queue, position);
    }
}

}  // namespace systole::isa
