#include "hw/common/shared_accesses.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "hw/isa/queue.h"

namespace systole::hw {
namespace {

/// The tiles of different programs lie in different places of weight memory.
constexpr bool is_shared(isa::MemoryId memory) {
    return memory == isa::MemoryId::HostMemory;
}

constexpr std::size_t core_of(std::size_t queue) {
    return queue / isa::queue_count;
}

}  // namespace

CoreRace::CoreRace(const Instruction& one, const Instruction& other, isa::MemoryId shared,
                   const isa::RowRange& both)
    : std::runtime_error("instruction " + std::to_string(one.number) + " of core " +
                         std::to_string(one.core) + " and instruction " + std::to_string(other.number) +
                         " of core " + std::to_string(other.core) + " are in no order"),
      first(one.core < other.core ? one : other),
      second(one.core < other.core ? other : one),
      memory(shared),
      rows(both) {}

void SharedAccesses::begin(std::size_t queue, InstructionNumber number, const isa::Footprint& footprint) {
    const Access now{.queue = queue, .number = number};
    for (const isa::MemoryRows& touched : footprint) {
        if (!is_shared(touched.memory) || touched.rows.empty()) continue;
        check(now, touched, memories_[touched.memory]);
    }
    for (const isa::MemoryRows& touched : footprint) {
        if (!is_shared(touched.memory) || touched.rows.empty()) continue;
        record(now, touched, memories_[touched.memory]);
    }
}

void SharedAccesses::check(const Access& now, const isa::MemoryRows& touched,
                           const Segments& segments) const {
    const VectorClock& known = order_.vector_clock(now.queue);
    const isa::RowRange& rows = touched.rows;
    auto segment = segments.upper_bound(rows.first);
    if (segment != segments.begin()) segment = std::prev(segment);
    for (; segment != segments.end() && segment->first < rows.last; ++segment) {
        const auto next = std::next(segment);
        const std::uint64_t end = next == segments.end() ? rows.last : std::min(rows.last, next->first);
        if (end <= rows.first) continue;
        const auto check_all = [&](const std::vector<Access>& before) {
            for (const Access& each : before) {
                const bool is_ordered =
                    core_of(each.queue) == core_of(now.queue) || each.number < known[each.queue];
                if (is_ordered) continue;
                throw CoreRace({core_of(each.queue), each.number}, {core_of(now.queue), now.number},
                               touched.memory, {std::max(rows.first, segment->first), end});
            }
        };
        check_all(segment->second.writes);
        if (touched.access == isa::Access::Write) check_all(segment->second.reads);
    }
}

void SharedAccesses::record(const Access& now, const isa::MemoryRows& touched, Segments& segments) {
    const auto split = [&segments](std::uint64_t row) {
        const auto behind = segments.upper_bound(row);
        if (behind == segments.begin()) return segments.emplace_hint(behind, row, Segment());
        const auto segment = std::prev(behind);
        return segment->first == row ? segment : segments.emplace_hint(behind, row, segment->second);
    };
    const auto end = split(touched.rows.last);
    const auto first = split(touched.rows.first);
    if (touched.access == isa::Access::Write) {
        first->second = {.writes = {now}, .reads = {}};
        segments.erase(std::next(first), end);
        return;
    }
    for (auto segment = first; segment != end; ++segment) {
        std::vector<Access>& reads = segment->second.reads;
        std::erase_if(reads, [&](const Access& each) { return each.queue == now.queue; });
        reads.push_back(now);
    }
}

}  // namespace systole::hw
