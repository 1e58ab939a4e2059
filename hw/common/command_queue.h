#pragma once

#include <algorithm>
#include <array>
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
#include "hw/common/wait_history.h"
#include "hw/isa/footprint.h"
#include "hw/isa/queue.h"

namespace systole::hw {

/// An entry of a unit's queue: an instruction to execute (Work) or one of the two kinds of sync.
struct Command {
    enum class Kind : std::uint8_t { Work, Wait, Signal };

    InstructionNumber number = 0;
    Tag tag = 0;
    Kind kind = Kind::Work;
    std::uint8_t semaphore = 0;  ///< of Wait and Signal
    Cycle issued = 0;
    isa::BoundInstruction bound{};  ///< of Work
    MatrixNeeds needs{};            ///< of Work of the matrix queue
};

/// A unit's queue as the sequencer sees it.
class CommandSink {
public:
    virtual ~CommandSink() = default;
    /// Puts a command at the end; waits while the queue is full.
    virtual void push(Command&& command) = 0;
    /// Waits until all commands have begun; returns the cycle in which all are complete.
    virtual Cycle drain() = 0;
};

/// The path of the instructions from the host to the instruction buffer.
class InstructionPath {
public:
    virtual ~InstructionPath() = default;
    /// Sends an instruction of `bytes` bytes that is issued under `tag`.
    virtual void send_instruction(std::uint64_t bytes, Tag tag) = 0;
    /// The cycle in which an instruction arrives, for one after the other. Waits until it is known.
    virtual Cycle next_arrival() = 0;
};

/// A unit's queue. It executes the `sync` commands itself; the unit receives only its instructions, each as
/// soon as the waits before it are over.
class CommandQueue final : public CommandSink {
public:
    /// `unit` is the unit's number in Semaphores. `shared`: those of the system; null in a system of one
    /// core.
    CommandQueue(std::size_t unit, std::size_t depth, Semaphores& semaphores, const Clock& clock,
                 Semaphores* shared = nullptr)
        : unit_(unit), depth_(depth), semaphores_(semaphores), shared_(shared), clock_(clock) {}

    /// In its core.
    isa::QueueId id() const { return static_cast<isa::QueueId>(unit_ % isa::queue_count); }

    void push(Command&& command) override;

    Cycle drain() override;

    /// For the unit: waits until all earlier commands have begun and their waits are over, and returns the
    /// next instruction. Counts the cycles of waiting in the unit's counters.
    Command next(UnitCounters& counters);

    /// Announces that the instruction last returned by `next` completes in this cycle, now or later. The unit
    /// calls it before it calls `next` again.
    void complete(Cycle at);

    /// The cycle in which all commands that have begun are complete.
    Cycle complete_at() const { return complete_at_; }

    /// The first command in the queue, not taken by cycle `now`. Only kept if there is a trace.
    std::optional<QueueTimes> waiting(Cycle now) const;

    /// The instruction that the unit executes, else the first command in the queue, which may be a `sync`
    /// that waits; none if there is nothing to do.
    std::optional<InstructionNumber> current() const {
        return executing_ || commands_.empty() ? executing_ : std::optional(commands_.front().number);
    }

    /// How traces show the queue and its unit.
    const QueueTraces& traces() const { return traces_; }
    void show_as(const QueueTraces& traces) { traces_ = traces; }
    /// Sets the sink that is told each command that leaves the queue; null for none.
    void observe(TraceSink* trace) { trace_ = trace; }
    /// Sets the history that is told the waits of `next`; null for none.
    void record_waits(UnitHistory* history) { history_ = history; }

    /// Counters for the cycles of waiting for a signal of each queue of the core; null for none.
    using WaitCounters = std::array<Counter*, isa::queue_count>;
    void count_waits(const WaitCounters& counters) { waits_ = counters; }

private:
    Command take();
    /// `signaller` is a number in Semaphores. The history knows the queues of its own core alone.
    void waited(UnitHistory::Activity activity, std::size_t signaller) {
        if (history_ == nullptr) return;
        const bool is_own = signaller / isa::queue_count == unit_ / isa::queue_count;
        history_->waited(activity, clock_.now(), is_own ? signaller % isa::queue_count : isa::queue_count);
    }
    Semaphores& semaphores_of(std::uint8_t semaphore) {
        return shared_ != nullptr && semaphore >= isa::first_shared_semaphore ? *shared_ : semaphores_;
    }
    void tell(const Command& command);

    /// Executes the first command, a `sync`, whose errors name it.
    template <class Use>
    void use_semaphore(Use use) {
        try {
            use();
        } catch (const SharedSemaphore& error) {
            throw InstructionError(commands_.front().number, error.what());
        }
    }

    const std::size_t unit_;
    const std::size_t depth_;
    Semaphores& semaphores_;
    Semaphores* const shared_;
    const Clock& clock_;
    RingQueue<Command> commands_;
    std::optional<InstructionNumber> executing_;  ///< returned by `next` and not completed
    Cycle complete_at_ = 0;
    QueueTraces traces_;
    TraceSink* trace_ = nullptr;
    UnitHistory* history_ = nullptr;
    WaitCounters waits_{};
    Cycle last_taken_ = 0;  ///< only kept if there is a trace
    sc_core::sc_event pushed_;
    sc_core::sc_event taken_;
};

// Inline, because in timing-only runs these functions are a large part of the simulator's time.

inline void CommandQueue::push(Command&& command) {
    while (commands_.size() >= depth_) clock_.wait(taken_);
    command.issued = clock_.now();
    commands_.push_back(std::move(command));
    pushed_.notify(sc_core::SC_ZERO_TIME);
}

inline Command CommandQueue::take() {
    Command command = commands_.take_front();
    if (trace_ != nullptr) tell(command);
    taken_.notify(sc_core::SC_ZERO_TIME);
    return command;
}

inline Command CommandQueue::next(UnitCounters& counters) {
    clock_.apply_test_delay();
    for (;;) {
        while (commands_.empty()) clock_.wait(pushed_);
        const Tag tag = commands_.front().tag;
        counters.spend(counters.idle_cycles, clock_.now(), tag);
        waited(UnitHistory::Activity::NoInstruction, unit_);
        switch (commands_.front().kind) {
            case Command::Kind::Wait: {
                std::size_t signaller = 0;
                const Cycle since = clock_.now();
                use_semaphore([&] {
                    const std::uint8_t semaphore = commands_.front().semaphore;
                    signaller = semaphores_of(semaphore).wait(semaphore, unit_);
                });
                counters.spend(counters.sync_cycles, clock_.now(), tag);
                waited(UnitHistory::Activity::Semaphore, signaller);
                if (Counter* const wait = waits_[signaller % isa::queue_count]) {
                    wait->add(clock_.now() - since, tag);
                }
                take();
                break;
            }
            case Command::Kind::Signal:
                use_semaphore([&] {
                    const std::uint8_t semaphore = commands_.front().semaphore;
                    semaphores_of(semaphore).signal(semaphore, unit_, std::max(clock_.now(), complete_at_));
                });
                take();
                break;
            case Command::Kind::Work:
                executing_ = commands_.front().number;
                return take();
        }
    }
}

inline void CommandQueue::complete(Cycle at) {
    complete_at_ = std::max(complete_at_, at);
    executing_.reset();
    taken_.notify(sc_core::SC_ZERO_TIME);
}

}  // namespace systole::hw
