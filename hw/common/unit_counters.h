#pragma once

#include "hw/common/clock.h"
#include "hw/common/counter.h"

namespace systole::hw {

/// The counters of a unit with a queue. Its cycle counters are a partition: every cycle of the run is
/// spent on exactly one of them, busy or the reason why not; a derived structure adds reasons of its own.
struct UnitCounters : CounterGroup {
    Counter& busy_cycles = add("busy_cycles", CounterUnit::Cycles, "an instruction was under way");
    Counter& sync_cycles = add("sync_cycles", CounterUnit::Cycles, "waited for a semaphore");
    Counter& idle_cycles = add("idle_cycles", CounterUnit::Cycles, "had no instruction");

    /// All cycles up to `until` that are not spent yet go to the counter.
    void spend(Counter& on, Cycle until, Tag tag) {
        if (until <= spent_) return;
        on.add(until - spent_, tag);
        spent_ = until;
    }
    /// The program ended at this cycle.
    void finish(Cycle end, Tag tag) { spend(idle_cycles, end, tag); }

private:
    Cycle spent_ = 0;
};

}  // namespace systole::hw
