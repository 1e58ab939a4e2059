#include "hw/common/order_checker.h"

#include <algorithm>
#include <string>

namespace systole::hw {

OrderViolation::OrderViolation(InstructionNumber earlier_number, InstructionNumber later_number)
    : std::runtime_error("instruction " + std::to_string(later_number) +
                         " is not ordered behind instruction " + std::to_string(earlier_number)),
      earlier(earlier_number),
      later(later_number) {}

void OrderChecker::issue(std::size_t unit, InstructionNumber number, const VectorClock& behind) {
    issued_[unit].push_back({number, behind});
}

void OrderChecker::begin(std::size_t unit, InstructionNumber number) {
    if (issued_[unit].empty() || issued_[unit].front().number != number) {
        throw std::logic_error("instruction " + std::to_string(number) + " is not the next of its unit");
    }
    const VectorClock& behind = issued_[unit].front().behind;
    for (std::size_t other = 0; other < isa::queue_count; ++other) {
        if (other != unit && behind[other] > vector_clocks_[unit][other]) {
            throw OrderViolation(behind[other] - 1, number);
        }
    }
    vector_clocks_[unit][unit] = number + 1;
    issued_[unit].pop_front();
}

void OrderChecker::merge(std::size_t unit, const VectorClock& signalled) {
    for (std::size_t other = 0; other < isa::queue_count; ++other) {
        vector_clocks_[unit][other] = std::max(vector_clocks_[unit][other], signalled[other]);
    }
}

}  // namespace systole::hw
