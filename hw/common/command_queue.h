#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <systemc>
#include <utility>

#include "hw/common/clock.h"
#include "hw/common/counter.h"
#include "hw/common/order_checker.h"
#include "hw/common/ring_queue.h"
#include "hw/common/semaphores.h"
#include "hw/common/trace.h"
#include "hw/common/unit_counters.h"
#include "hw/common/wait_state.h"
#include "hw/isa/footprint.h"

namespace systole::hw {

/// What the sequencer hands to a unit: an instruction to carry out, or one of the two kinds of sync.
struct Command {
    enum class Kind : std::uint8_t { Work, Wait, Signal };

    InstructionNumber number = 0;
    Tag tag = 0;
    Kind kind = Kind::Work;
    std::uint8_t semaphore = 0;  ///< of Wait and Signal
    Cycle issued = 0;
    isa::BoundInstruction bound{};  ///< of Work
};

/// The sequencer's side of a unit's queue.
class CommandSink {
public:
    virtual ~CommandSink() = default;
    /// Puts a command at the end; waits while the queue is full.
    virtual void push(Command command, WaitState& state) = 0;
    /// Waits until everything pushed has begun, and returns the cycle in which all of it is complete.
    virtual Cycle drain(WaitState& state) = 0;
};

/// The way of the instructions from the host to the instruction buffer.
class InstructionPath {
public:
    virtual ~InstructionPath() = default;
    /// The host sends an instruction of so many bytes; returns the cycle in which it has arrived.
    virtual Cycle send_instruction(std::uint64_t bytes) = 0;
};

/// A unit's queue. It carries out the `sync` commands by itself: the unit sees its instructions, each
/// as soon as its waits are over.
class CommandQueue final : public CommandSink {
public:
    /// `unit` is the number that semaphores know the unit by.
    CommandQueue(std::size_t unit, std::size_t depth, Semaphores& semaphores, const Clock& clock)
        : unit_(unit), depth_(depth), semaphores_(semaphores), clock_(clock) {}

    void push(Command command, WaitState& state) override;

    Cycle drain(WaitState& state) override;

    /// The unit's side: the next instruction, once everything before it in the queue has begun and
    /// its waits are over. The cycles of waiting are spent on the unit's counters.
    Command next(WaitState& state, UnitCounters& counters);

    /// The instruction that `next` gave last will be complete at this cycle. To be said before the
    /// unit asks for the next one.
    void complete(Cycle at);

    /// When everything that has begun is complete.
    Cycle complete_at() const { return complete_at_; }

    /// What is first in the queue and has not been taken by cycle `now`. Known where there is a trace.
    std::optional<QueueTimes> waiting(Cycle now) const;

    /// Who hears of every command that leaves the queue; null for nobody.
    void observe(TraceSink* trace) { trace_ = trace; }

private:
    Command take();

    void tell(const Command& command);

    const std::size_t unit_;
    const std::size_t depth_;
    Semaphores& semaphores_;
    const Clock& clock_;
    RingQueue<Command> commands_;
    bool working_ = false;
    Cycle complete_at_ = 0;
    TraceSink* trace_ = nullptr;
    Cycle last_taken_ = 0;  ///< known where there is a trace
    sc_core::sc_event pushed_;
    sc_core::sc_event taken_;
};

// Inline: with no values to compute, these are a large part of what an instruction costs the simulator.

inline void CommandQueue::push(Command command, WaitState& state) {
    while (commands_.size() >= depth_) {
        const WaitState::Scope scope(state, "a place in the queue of the unit of instruction",
                                     command.number);
        clock_.wait(taken_);
    }
    command.issued = clock_.now();
    commands_.push_back(std::move(command));
    pushed_.notify(sc_core::SC_ZERO_TIME);
}

inline Command CommandQueue::take() {
    Command command = std::move(commands_.front());
    commands_.pop_front();
    if (trace_ != nullptr) tell(command);
    taken_.notify(sc_core::SC_ZERO_TIME);
    return command;
}

inline Command CommandQueue::next(WaitState& state, UnitCounters& counters) {
    clock_.apply_test_delay();
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

inline void CommandQueue::complete(Cycle at) {
    complete_at_ = std::max(complete_at_, at);
    working_ = false;
    taken_.notify(sc_core::SC_ZERO_TIME);
}

}  // namespace systole::hw
