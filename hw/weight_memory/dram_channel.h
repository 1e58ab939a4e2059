#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "hw/common/counter.h"
#include "hw/machine/dram_config.h"
#include "hw/weight_memory/dram_address.h"

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

/// A clock of the DRAM, from 0.
using MemoryClockNumber = std::uint64_t;

/// One channel of a DRAM: its banks, and a controller that reads bursts in the order they are asked for.
///
/// Each command goes out in the first clock that the timing parameters allow. Of the bursts asked for, the
/// controller sees the next `queue_bursts`, and opens their rows ahead, in order; a row stays open until
/// another of its bank is wanted. Every tREFI a refresh is due: from then on no row is opened and none
/// read until all banks are closed and refreshed. A row that could not be read before that is not opened
/// before it. Commands do not compete for the command bus, and a refresh is never put off.
///
/// Costs go with runs of bursts of one row, not with bursts or clocks.
class DramChannel {
public:
    /// The configuration and the counters must outlive the channel.
    DramChannel(const machine::DramConfig& dram, DramCounters& counters)
        : dram_(dram), counters_(counters), banks_(dram.banks), next_refresh_(dram.trefi_clocks) {}

    /// Reads bursts of a row, asked for in clock `arrival`, no earlier than those before. Gives the clock
    /// in which the last one's data has come: the first one after it.
    MemoryClockNumber read(MemoryClockNumber arrival, DramAddressMap::Piece piece, Tag tag);
    /// The run ended at this clock.
    void finish(MemoryClockNumber end, Tag tag);

private:
    struct Bank {
        bool open = false;
        std::uint64_t row = 0;
        MemoryClockNumber precharge_from = 0;
        MemoryClockNumber activate_from = 0;
    };
    /// Bursts read tCCD apart.
    struct Run {
        std::uint64_t number = 0;  ///< of its first burst
        MemoryClockNumber first = 0;
        std::uint64_t bursts = 0;
    };
    /// The clocks in which a row's bank is closed, where it is open, and the row opened.
    struct Opening {
        MemoryClockNumber precharge = 0;
        MemoryClockNumber activate = 0;
    };

    MemoryClockNumber seen_from(MemoryClockNumber arrival) const;
    Opening plan(const Bank& bank, MemoryClockNumber seen) const;
    void open(Bank& bank, std::uint64_t row, const Opening& opening);
    bool due(MemoryClockNumber clock) const { return dram_.trefi_clocks > 0 && clock >= next_refresh_; }
    /// The refresh that is due next, and those after it that are due by `clock` too.
    void refresh(MemoryClockNumber clock, Tag tag);
    /// The bursts [number of bursts so far, + bursts), the first in clock `first`.
    void record(MemoryClockNumber first, std::uint64_t bursts);
    /// Clocks that are not spent yet, up to `until`, go to the counter.
    void spend(Counter& on, MemoryClockNumber until, Tag tag);

    const machine::DramConfig& dram_;
    DramCounters& counters_;
    std::vector<Bank> banks_;
    std::deque<Run> runs_;                 ///< of the last `queue_bursts` bursts and more
    std::uint64_t bursts_ = 0;             ///< read so far
    MemoryClockNumber read_from_ = 0;      ///< the next burst, for the one before
    MemoryClockNumber activate_from_ = 0;  ///< the next row, for the one before and for a refresh
    /// When the next rows may open for the row four before each; the oldest at `oldest_activation_`.
    std::array<MemoryClockNumber, 4> window_{};
    std::size_t oldest_activation_ = 0;
    MemoryClockNumber next_refresh_;
    MemoryClockNumber refreshed_ = 0;  ///< the end of the last refresh
    MemoryClockNumber spent_ = 0;
};

}  // namespace systole::hw
