#pragma once

#include "hw/common/counter.h"

namespace systole::hw {

/// Counters of a DRAM, all channels together. The memory clocks are a partition: every clock of a
/// channel, from the first to the end of the run, carries a burst's command slot or is lost to one
/// reason. A clock counts for what the read commands do in it; the data follows CL clocks later.
struct DramCounters final : CounterGroup {
    Counter& reads = add("reads", CounterUnit::Commands, "read commands, a burst each");
    Counter& row_hits = add("row_hits", CounterUnit::Commands, "read commands to a row that was open");
    Counter& row_activations = add("row_activations", CounterUnit::Commands, "rows opened");
    Counter& refreshes = add("refreshes", CounterUnit::Commands, "refreshes of a channel's banks");
    Counter& data_clocks = add("data_clocks", CounterUnit::MemoryClocks, "bursts, on the data bus");
    Counter& row_clocks =
        add("row_clocks", CounterUnit::MemoryClocks, "the next burst's row was being closed or opened");
    Counter& refresh_clocks =
        add("refresh_clocks", CounterUnit::MemoryClocks, "the next burst waited for a refresh");
    Counter& gap_clocks =
        add("gap_clocks", CounterUnit::MemoryClocks, "between bursts: tCCD beyond the burst's length");
    Counter& idle_clocks = add("idle_clocks", CounterUnit::MemoryClocks, "nothing to read");
};

}  // namespace systole::hw
