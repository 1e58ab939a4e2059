#include "hw/common/shared_link.h"

namespace systole::hw {

Cycle SharedLink::send_urgent(std::uint64_t bytes) {
    clock_.wait_for_beginning();
    const Cycle now = clock_.now();
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
    last_transfer_end_ = transfer_end_;
    const ExactTime begin = std::max({ExactTime{clock_.now(), 0}, urgent_end_, transfer_end_});
    transfer_end_ = rate_.after(begin, bytes);
    // Messages sent meanwhile move the end.
    for (Cycle end = transfer_end_.whole; clock_.now() < end; end = transfer_end_.whole)
        clock_.wait_until(end);
}

}  // namespace systole::hw
