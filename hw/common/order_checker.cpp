#include "hw/common/order_checker.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace systole::hw {

OrderViolation::OrderViolation(InstructionNumber earlier_number, InstructionNumber later_number)
    : std::runtime_error("instruction " + std::to_string(later_number) +
                         " is not ordered behind instruction " + std::to_string(earlier_number)),
      earlier(earlier_number),
      later(later_number) {}

void OrderChecker::issue(std::size_t unit, InstructionNumber number, const VectorClock& behind,
                         std::uint64_t first_written, std::uint64_t last_written) {
    issued_[unit].push_back({number, behind, first_written, last_written});
}

const OrderChecker::Issued& OrderChecker::next_of(std::size_t unit, InstructionNumber number) const {
    if (issued_[unit].empty() || issued_[unit].front().number != number) {
        throw std::logic_error("instruction " + std::to_string(number) + " is not the next of its unit");
    }
    return issued_[unit].front();
}

void OrderChecker::begin(std::size_t unit, InstructionNumber number) {
    const Issued& beginning = next_of(unit, number);
    for (std::size_t other = 0; other < isa::unit_count; ++other) {
        if (other != unit && beginning.behind[other] > vector_clocks_[unit][other]) {
            throw OrderViolation(beginning.behind[other] - 1, number);
        }
    }
    vector_clocks_[unit][unit] = number + 1;
}

void OrderChecker::complete(std::size_t unit, InstructionNumber number, Cycle at) {
    const Issued& completed = next_of(unit, number);
    remember_write(unit, completed.first_written, completed.last_written, at);
    issued_[unit].pop_front();
}

void OrderChecker::merge(std::size_t unit, const VectorClock& signalled) {
    for (std::size_t other = 0; other < isa::unit_count; ++other) {
        vector_clocks_[unit][other] = std::max(vector_clocks_[unit][other], signalled[other]);
    }
}

void OrderChecker::remember_write(std::size_t unit, std::uint64_t first, std::uint64_t last, Cycle at) {
    if (first >= last) return;
    // Cut entries at the edges of the range and erase entries inside it.
    auto next = writes_.lower_bound(first);
    if (next != writes_.begin()) {
        auto before = std::prev(next);
        if (before->second.last > first) {
            if (before->second.last > last) writes_.emplace(last, before->second);
            before->second.last = first;
        }
    }
    for (next = writes_.lower_bound(first); next != writes_.end() && next->first < last;) {
        if (next->second.last > last) writes_.emplace(last, next->second);
        next = writes_.erase(next);
    }
    writes_[first] = {last, unit, at};
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
