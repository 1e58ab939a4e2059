#include "hw/common/shared_link.h"

#include <algorithm>

namespace systole::hw {

void SharedLink::send_urgent(std::size_t core, std::uint64_t bytes) {
    clock_.wait_for_beginning();
    messages_.add(core, bytes, sending());
}

Cycle SharedLink::next_urgent_end(std::size_t core) {
    return messages_.take(core, sending());
}

Cycle SharedLink::send(std::uint64_t bytes, Cycle now) {
    const bool under_way = transfer_end_.whole > now;
    // The part of this cycle that a finished transfer used is not available.
    const ExactTime begin =
        std::max({ExactTime{now, 0}, urgent_end_, under_way ? last_transfer_end_ : transfer_end_});
    urgent_end_ = rate_.after(begin, bytes);
    if (under_way) transfer_end_ = rate_.after(transfer_end_, bytes);
    return urgent_end_.whole;
}

void SharedLink::transfer(std::uint64_t bytes) {
    clock_.wait_for_settled();
    messages_.serve_until(clock_.now(), sending());
    last_transfer_end_ = transfer_end_;
    const ExactTime begin = std::max({ExactTime{clock_.now(), 0}, urgent_end_, transfer_end_});
    transfer_end_ = rate_.after(begin, bytes);
    // Messages sent meanwhile move the end.
    for (Cycle end = transfer_end_.whole; clock_.now() < end; end = transfer_end_.whole) {
        clock_.wait_until(end);
        messages_.serve_until(end - 1, sending());
    }
}

}  // namespace systole::hw
