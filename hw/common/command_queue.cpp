#include "hw/common/command_queue.h"

#include <algorithm>
#include <utility>

namespace systole::hw {

void CommandQueue::push(Command command, WaitState& state) {
    while (commands_.size() >= depth_) {
        const WaitState::Scope scope(state, "a place in the queue of the unit of instruction",
                                     command.number);
        clock_.wait(taken_);
    }
    command.issued = clock_.now();
    commands_.push_back(std::move(command));
    pushed_.notify(sc_core::SC_ZERO_TIME);
}

Cycle CommandQueue::drain(WaitState& state) {
    while (!commands_.empty() || working_) {
        const WaitState::Scope scope(state, "all units to finish");
        clock_.wait(taken_);
    }
    return complete_at_;
}

Command CommandQueue::next(WaitState& state, UnitCounters& counters) {
    clock_.hold_back();
    for (;;) {
        if (commands_.empty()) {
            const WaitState::Scope scope(state, "an instruction");
            while (commands_.empty()) clock_.wait(pushed_);
        }
        const Tag tag = commands_.front().tag;
        counters.spend(counters.idle_cycles, clock_.now(), tag);
        switch (commands_.front().kind) {
            case Command::Kind::Wait:
                semaphores_.wait(commands_.front().semaphore, unit_, state);
                counters.spend(counters.sync_cycles, clock_.now(), tag);
                take();
                break;
            case Command::Kind::Signal:
                semaphores_.signal(commands_.front().semaphore, unit_, std::max(clock_.now(), complete_at_));
                take();
                break;
            case Command::Kind::Work:
                working_ = true;
                return take();
        }
    }
}

void CommandQueue::complete(Cycle at) {
    complete_at_ = std::max(complete_at_, at);
    working_ = false;
    taken_.notify(sc_core::SC_ZERO_TIME);
}

std::optional<QueueTimes> CommandQueue::waiting(Cycle now) const {
    if (commands_.empty()) return std::nullopt;
    const Command& command = commands_.front();
    return QueueTimes{
        unit_, command.number, command.tag, command.issued, std::max(command.issued, last_taken_), now};
}

Command CommandQueue::take() {
    Command command = std::move(commands_.front());
    commands_.pop_front();
    if (trace_ != nullptr) tell(command);
    taken_.notify(sc_core::SC_ZERO_TIME);
    return command;
}

void CommandQueue::tell(const Command& command) {
    const Cycle first = std::max(command.issued, last_taken_);
    last_taken_ = clock_.now();
    trace_->queued({unit_, command.number, command.tag, command.issued, first, last_taken_});
}

}  // namespace systole::hw
