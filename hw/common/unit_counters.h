#pragma once

#include "hw/common/clock.h"
#include "hw/common/counter.h"

namespace systole::hw {

/// The counters of a unit with a queue. Its cycle counters partition the run: every cycle counts in exactly
/// one of them, as busy or under the reason for being idle. A derived structure adds reasons of its own.
struct UnitCounters : CounterGroup {
    Counter& busy_cycles = add("busy_cycles", CounterUnit::Cycles, "an instruction was under way");
    Counter& sync_cycles = add("sync_cycles", CounterUnit::Cycles, "waited for a semaphore");
    Counter& idle_cycles = add("idle_cycles", CounterUnit::Cycles, "had no instruction");

    /// Counts all cycles before `until` that are not counted yet.
    void spend(Counter& on, Cycle until, Tag tag) {
        if (until <= spent_) return;
        on.add(until - spent_, tag);
        spent_ = until;
    }
    /// All cycles before this one are counted.
    Cycle spent() const { return spent_; }
    /// To be called at the end of the program: counts the remaining cycles as idle.
    void finish(Cycle end, Tag tag) { spend(idle_cycles, end, tag); }

private:
    Cycle spent_ = 0;
};

}  // namespace systole::hw
