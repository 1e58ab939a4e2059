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

namespace systole::hw {

/// What the sequencer hands to a unit: an instruction to carry out, or one of the two kinds of sync.
template <class Payload>
struct Command {
    enum class Kind : std::uint8_t { Work, Wait, Signal };

    InstructionNumber number = 0;
    Tag tag = 0;
    Kind kind = Kind::Work;
    std::uint8_t semaphore = 0;  ///< of Wait and Signal
    Cycle issued = 0;
    Payload payload{};
};

/// The sequencer's side of a unit's queue.
template <class Payload>
class CommandSink {
public:
    virtual ~CommandSink() = default;
    /// Puts a command at the end; waits while the queue is full.
    virtual void push(Command<Payload> command, WaitState& state) = 0;
    /// Waits until everything pushed has begun, and returns the cycle in which all of it is complete.
    virtual Cycle drain(WaitState& state) = 0;
};

/// A unit's queue. It carries out the `sync` commands by itself: the unit sees its instructions, each
/// as soon as its waits are over.
template <class Payload>
class CommandQueue final : public CommandSink<Payload> {
public:
    /// `unit` is the number that semaphores know the unit by.
    CommandQueue(std::size_t unit, std::size_t depth, Semaphores& semaphores, const Clock& clock)
        : unit_(unit), depth_(depth), semaphores_(semaphores), clock_(clock) {}

    void push(Command<Payload> command, WaitState& state) override {
        while (commands_.size() >= depth_) {
            const WaitState::Scope scope(state, "a place in the queue of the unit of instruction",
                                         command.number);
            clock_.wait(taken_);
        }
        command.issued = clock_.now();
        commands_.push_back(std::move(command));
        pushed_.notify(sc_core::SC_ZERO_TIME);
    }

    Cycle drain(WaitState& state) override {
        while (!commands_.empty() || working_) {
            const WaitState::Scope scope(state, "all units to finish");
            clock_.wait(taken_);
        }
        return complete_at_;
    }

    /// The unit's side: the next instruction, once everything before it in the queue has begun and
    /// its waits are over. The cycles of waiting are spent on the unit's counters.
    Command<Payload> next(WaitState& state, UnitCounters& counters) {
        clock_.hold_back();
        for (;;) {
            if (commands_.empty()) {
                const WaitState::Scope scope(state, "an instruction");
                while (commands_.empty()) clock_.wait(pushed_);
            }
            const Tag tag = commands_.front().tag;
            counters.spend(counters.idle_cycles, clock_.now(), tag);
            switch (commands_.front().kind) {
                case Command<Payload>::Kind::Wait:
                    semaphores_.wait(commands_.front().semaphore, unit_, state);
                    counters.spend(counters.sync_cycles, clock_.now(), tag);
                    take();
                    break;
                case Command<Payload>::Kind::Signal:
                    semaphores_.signal(commands_.front().semaphore, unit_,
                                       std::max(clock_.now(), complete_at_));
                    take();
                    break;
                case Command<Payload>::Kind::Work:
                    working_ = true;
                    return take();
            }
        }
    }

    /// The instruction that `next` gave last will be complete at this cycle. To be said before the
    /// unit asks for the next one.
    void complete(Cycle at) {
        complete_at_ = std::max(complete_at_, at);
        working_ = false;
        taken_.notify(sc_core::SC_ZERO_TIME);
    }

    /// When everything that has begun is complete.
    Cycle complete_at() const { return complete_at_; }

    /// What is first in the queue and has not been taken by cycle `now`. Known where there is a trace.
    std::optional<QueueTimes> waiting(Cycle now) const {
        if (commands_.empty()) return std::nullopt;
        const Command<Payload>& command = commands_.front();
        return QueueTimes{
            unit_, command.number, command.tag, command.issued, std::max(command.issued, last_taken_), now};
    }

    /// Who hears of every command that leaves the queue; null for nobody.
    void observe(TraceSink* trace) { trace_ = trace; }

private:
    Command<Payload> take() {
        Command<Payload> command = std::move(commands_.front());
        commands_.pop_front();
        if (trace_ != nullptr) tell(command);
        taken_.notify(sc_core::SC_ZERO_TIME);
        return command;
    }

    void tell(const Command<Payload>& command) {
        const Cycle first = std::max(command.issued, last_taken_);
        last_taken_ = clock_.now();
        trace_->queued({unit_, command.number, command.tag, command.issued, first, last_taken_});
    }

    const std::size_t unit_;
    const std::size_t depth_;
    Semaphores& semaphores_;
    const Clock& clock_;
    RingQueue<Command<Payload>> commands_;
    bool working_ = false;
    Cycle complete_at_ = 0;
    TraceSink* trace_ = nullptr;
    Cycle last_taken_ = 0;  ///< known where there is a trace
    sc_core::sc_event pushed_;
    sc_core::sc_event taken_;
};

}  // namespace systole::hw
