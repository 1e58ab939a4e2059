#include "hw/common/order_checker.h"

#include <algorithm>
#include <string>

namespace systole::hw {

OrderViolation::OrderViolation(InstructionNumber earlier_number, InstructionNumber later_number)
    : std::runtime_error("instruction " + std::to_string(later_number) +
                         " is not ordered behind instruction " + std::to_string(earlier_number)),
      earlier(earlier_number),
      later(later_number) {}

void VectorClock::merge(const VectorClock& other) {
    const auto raise = [](auto& own, const auto& others) {
        std::transform(own.begin(), own.end(), others.begin(), own.begin(),
                       [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); });
    };
    raise(first_, other.first_);
    raise(others_, other.others_);
}

void OrderChecker::issue(std::size_t queue, InstructionNumber number, const isa::QueuePositions& behind) {
    issued_[queue].push_back({number, behind});
}

void OrderChecker::begin(std::size_t queue, InstructionNumber number) {
    if (issued_[queue].empty() || issued_[queue].front().number != number) {
        throw std::logic_error("instruction " + std::to_string(number) + " is not the next of its queue");
    }
    const isa::QueuePositions& behind = issued_[queue].front().behind;
    VectorClock& known = vector_clocks_[queue];
    const std::size_t first = queue / isa::queue_count * isa::queue_count;
    for (std::size_t other = 0; other < isa::queue_count; ++other) {
        if (first + other != queue && behind[other] > known[first + other]) {
            throw OrderViolation(behind[other] - 1, number);
        }
    }
    known[queue] = number + 1;
    issued_[queue].pop_front();
}

}  // namespace systole::hw
