#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <systemc>

#include "hw/common/clock.h"
#include "hw/common/counter.h"
#include "hw/common/order_checker.h"
#include "hw/common/ring_queue.h"
#include "hw/common/semaphores.h"
#include "hw/common/trace.h"
#include "hw/common/unit_counters.h"
#include "hw/common/wait_state.h"
#include "hw/isa/bound_instruction.h"

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

}  // namespace systole::hw
