#include "hw/common/command_queue.h"

#include <algorithm>

namespace systole::hw {

Cycle CommandQueue::drain() {
    while (!commands_.empty() || executing_) clock_.wait(taken_);
    return complete_at_;
}

std::optional<QueueTimes> CommandQueue::waiting(Cycle now) const {
    if (commands_.empty()) return std::nullopt;
    const Command& command = commands_.front();
    return QueueTimes{unit_ % isa::queue_count,
                      command.number,
                      command.tag,
                      command.issued,
                      std::max(command.issued, last_taken_),
                      now};
}

void CommandQueue::tell(const Command& command) {
    const Cycle first = std::max(command.issued, last_taken_);
    last_taken_ = clock_.now();
    trace_->queued(
        {unit_ % isa::queue_count, command.number, command.tag, command.issued, first, last_taken_});
}

}  // namespace systole::hw
