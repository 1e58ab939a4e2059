#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <systemc>
#include <utility>

#include "hw/common/clock.h"
#include "hw/common/command_queue.h"
#include "hw/common/counter.h"
#include "hw/common/process.h"
#include "hw/common/trace.h"
#include "hw/common/unit_context.h"
#include "hw/common/unit_module.h"
#include "hw/common/value_workers.h"
#include "hw/common/wait_history.h"
#include "hw/isa/queue.h"

namespace systole::hw {

/// A queue of instructions, the loop that executes them in order, and what every unit does for each of them.
/// `Counters` derives from UnitCounters. The steps of an instruction, in this order, as far as it has them:
/// `waited` after each wait, `begin`, `compute`, `complete`.
template <class Counters>
class QueueLoop {
public:
    using Activity = UnitHistory::Activity;

    /// `traces`: how traces show the queue. `history` is told what the unit does; null if no wait of the
    /// matrix unit asks for this unit. `for_counters`: what their constructor takes.
    template <class... ForCounters>
    QueueLoop(isa::QueueId id, const QueueTraces& traces, const UnitContext& context,
              UnitHistory* history = nullptr, ForCounters... for_counters)
        : context_(context),
          counters_(for_counters...),
          id_(static_cast<std::size_t>(id)),
          queue_number_(context.queue(id)),
          history_(history),
          queue_(queue_number_, context.machine.sequencer.queue_depth, context.semaphores, context.clock,
                 context.shared_semaphores) {
        queue_.show_as(traces);
        queue_.record_waits(history);
    }

    CommandQueue& queue() { return queue_; }
    Counters& counters() { return counters_; }
    const Counters& counters() const { return counters_; }

    /// Starts the process that takes each instruction from the queue and calls `execute` with its Command.
    template <class Execute>
    void start(const std::string& process, Execute execute) {
        spawn(process, context_.failure, [this, execute] {
            for (;;) {
                const Command command = queue_.next(counters_);
                command_ = &command;
                execute(command);
            }
        });
    }

    /// Counts the cycles until now under their reason.
    void waited(Counter& reason) { counters_.spend(reason, context_.clock.now(), command_->tag); }
    /// The same, and tells the history.
    void waited(Counter& reason, Activity activity) {
        waited(reason);
        if (history_ != nullptr) history_->waited(activity, context_.clock.now());
    }

    /// The same for a wait in the middle of an instruction, which traces show.
    void stalled(Counter& reason) {
        const Cycle from = counters_.spent();
        waited(reason);
        if (context_.trace == nullptr || from == context_.clock.now()) return;
        context_.trace->stalled({.unit = id_,
                                 .number = command_->number,
                                 .tag = command_->tag,
                                 .from = from,
                                 .until = context_.clock.now(),
                                 .reason = reason.name()});
    }

    /// The instruction begins in this cycle, which is returned. Throws OrderViolation if a `sync` before it
    /// is missing.
    Cycle begin() {
        begun_ = context_.clock.now();
        if (begun_ < busy_until_) throw std::logic_error("a unit begins an instruction before it is free");
        context_.order.begin(queue_number_, command_->number);
        if (context_.shared_accesses != nullptr) {
            context_.shared_accesses->begin(queue_number_, command_->number, command_->bound.footprint);
        }
        return begun_;
    }

    /// Hands over the computation of the instruction's values.
    template <class Job>
    void compute(Job&& job) {
        context_.workers.compute(queue_number_, command_->number, ValueWorkers::all_rows,
                                 std::forward<Job>(job));
    }
    /// Waits until the instruction may read and write values directly.
    void wait_for_order() { context_.workers.wait_for_order(queue_number_); }

    /// The unit is busy with the instruction until `released`, and its last result is in its place in cycle
    /// `complete`; both are now or later. A unit that returns from `execute` before `released` waits until
    /// then before the next `begin`. `loaded`: see InstructionTimes.
    void complete(Cycle released, Cycle complete, Activity activity = Activity::Work, Cycle loaded = 0) {
        const Command& command = *command_;
        busy_until_ = released;
        counters_.spend(counters_.busy_cycles, released, command.tag);
        if (history_ != nullptr) {
            history_->worked(activity, command.number, command.tag, released, complete);
        }
        queue_.complete(complete);
        if (context_.trace != nullptr) {
            context_.trace->instruction({.unit = id_,
                                         .number = command.number,
                                         .tag = command.tag,
                                         .issued = command.issued,
                                         .begun = begun_,
                                         .released = released,
                                         .complete = complete,
                                         .loaded = loaded,
                                         .bytes = moved_bytes_});
        }
        moved_bytes_.reset();
    }

    /// The instruction moves so many bytes between the chip and its host, for traces.
    void moves(std::uint64_t bytes) { moved_bytes_ = moved_bytes_.value_or(0) + bytes; }

protected:
    /// The instruction under way.
    const Command& executing() const { return *command_; }

    const UnitContext context_;
    Counters counters_;

private:
    const std::size_t id_;            ///< of the queue in its core, as traces know it
    const std::size_t queue_number_;  ///< in the system
    UnitHistory* const history_;
    CommandQueue queue_;
    const Command* command_ = nullptr;
    Cycle begun_ = 0;
    Cycle busy_until_ = 0;
    std::optional<std::uint64_t> moved_bytes_;  ///< of the instruction under way
};

/// A unit with one queue. Its constructor registers the counters and calls `start`.
template <class Counters>
class QueuedUnit : public UnitModule, protected QueueLoop<Counters> {
public:
    using QueueLoop<Counters>::queue;
    using QueueLoop<Counters>::counters;

    void finish(Cycle end, Tag tag) override { counters().finish(end, tag); }

protected:
    template <class... ForCounters>
    QueuedUnit(const sc_core::sc_module_name& name, isa::QueueId id, const QueueTraces& traces,
               const UnitContext& context, UnitHistory* history = nullptr, ForCounters... for_counters)
        : UnitModule(name), QueueLoop<Counters>(id, traces, context, history, for_counters...) {}
};

}  // namespace systole::hw
