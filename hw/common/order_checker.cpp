#include "hw/common/order_checker.h"

#include <algorithm>
#include <utility>

namespace systole::hw {

OrderViolation::OrderViolation(InstructionNumber earlier_number, InstructionNumber later_number,
                               const Access& later_access)
    : std::runtime_error("instruction " + std::to_string(later_number) + " begins before instruction " +
                         std::to_string(earlier_number) + " is complete"),
      earlier(earlier_number),
      later(later_number),
      access(later_access) {}

void OrderChecker::issue(std::size_t unit, InstructionNumber number, std::vector<Access> accesses) {
    under_way_[unit].push_back({number, std::nullopt, std::move(accesses)});
}

OrderChecker::UnderWay& OrderChecker::find(std::size_t unit, InstructionNumber number) {
    auto& queue = under_way_[unit];
    const auto found =
        std::lower_bound(queue.begin(), queue.end(), number,
                         [](const UnderWay& entry, InstructionNumber n) { return entry.number < n; });
    if (found == queue.end() || found->number != number) {
        throw std::logic_error("instruction " + std::to_string(number) +
                               " begins without having been issued");
    }
    return *found;
}

void OrderChecker::begin(std::size_t unit, InstructionNumber number, Cycle now) {
    const UnderWay& beginning = find(unit, number);
    for (std::size_t other = 0; other < under_way_.size(); ++other) {
        auto& queue = under_way_[other];
        // Units complete in order: what is complete leaves from the front.
        while (!queue.empty() && queue.front().complete_at.value_or(now + 1) <= now) queue.pop_front();
        if (other == unit) continue;
        for (const UnderWay& earlier : queue) {
            if (earlier.number > number) break;
            if (earlier.complete_at.value_or(now + 1) <= now) continue;
            for (const Access& mine : beginning.accesses) {
                for (const Access& theirs : earlier.accesses) {
                    if (mine.conflicts(theirs)) throw OrderViolation(earlier.number, number, mine);
                }
            }
        }
    }
}

void OrderChecker::complete(std::size_t unit, InstructionNumber number, Cycle at) {
    UnderWay& entry = find(unit, number);
    entry.complete_at = at;
    for (const Access& access : entry.accesses) {
        if (access.writes && access.memory == Memory::UnifiedBuffer) remember_write(unit, access, at);
    }
}

void OrderChecker::remember_write(std::size_t unit, const Access& access, Cycle at) {
    if (access.first >= access.last) return;
    // Cut what stands at the edges, drop what lies inside.
    auto next = writes_.lower_bound(access.first);
    if (next != writes_.begin()) {
        auto before = std::prev(next);
        if (before->second.last > access.first) {
            if (before->second.last > access.last) writes_.emplace(access.last, before->second);
            before->second.last = access.first;
        }
    }
    for (next = writes_.lower_bound(access.first); next != writes_.end() && next->first < access.last;) {
        if (next->second.last > access.last) writes_.emplace(access.last, next->second);
        next = writes_.erase(next);
    }
    writes_[access.first] = {access.last, unit, at};
}

Cycle OrderChecker::written(std::size_t unit, std::uint64_t first, std::uint64_t last) const {
    Cycle latest = 0;
    auto entry = writes_.upper_bound(first);
    if (entry != writes_.begin()) --entry;
    for (; entry != writes_.end() && entry->first < last; ++entry) {
        if (entry->second.last > first && entry->second.unit == unit) {
            latest = std::max(latest, entry->second.complete_at);
        }
    }
    return latest;
}

}  // namespace systole::hw
