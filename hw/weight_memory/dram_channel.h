#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "hw/common/counter.h"
#include "hw/machine/dram_config.h"
#include "hw/weight_memory/dram_address.h"

namespace systole::hw {

/// The counters of a DRAM, for all channels together. The memory clocks partition the run: every clock of a
/// channel, from the first to the end of the run, is used by a burst's read command or lost for one reason.
/// Clocks are those of the read commands; the data follows CL clocks later.
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

/// The number of a memory clock, from 0.
using MemoryClockNumber = std::uint64_t;

/// One channel of a DRAM: its banks, and a controller that reads bursts in the order of the requests.
///
/// Each command is issued in the first clock that the timing parameters allow. The controller sees the next
/// `queue_bursts` requested bursts and opens their rows ahead, in order. A row stays open until another row
/// of its bank is needed. Every tREFI clocks a refresh is due: from then on no row is opened or read until
/// all banks are closed and refreshed. A row that could not be read before the refresh is opened after it.
/// Commands do not compete for the command bus, and a refresh is never postponed.
///
/// The simulator's cost grows with the number of runs of bursts in one row, not with bursts or clocks.
class DramChannel {
public:
    /// The configuration and the counters must outlive the channel.
    DramChannel(const machine::DramConfig& dram, DramCounters& counters)
        : dram_(dram), counters_(counters), banks_(dram.banks), next_refresh_(dram.trefi_clocks) {}

    /// Reads bursts of a row, requested in clock `arrival`, which must not be before that of earlier reads.
    /// Returns the first clock after the last burst's data.
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
    /// Consecutive bursts, read tCCD apart.
    struct Run {
        std::uint64_t number = 0;  ///< number of its first burst
        MemoryClockNumber first = 0;
        std::uint64_t bursts = 0;
    };
    /// The clocks in which a row's bank is precharged, if it is open, and the row is activated.
    struct Opening {
        MemoryClockNumber precharge = 0;
        MemoryClockNumber activate = 0;
    };

    MemoryClockNumber seen_from(MemoryClockNumber arrival) const;
    Opening plan(const Bank& bank, MemoryClockNumber seen) const;
    void open(Bank& bank, std::uint64_t row, const Opening& opening);
    bool due(MemoryClockNumber clock) const { return dram_.trefi_clocks > 0 && clock >= next_refresh_; }
    /// Performs all refreshes that are due by `clock`, at least the next one.
    void refresh(MemoryClockNumber clock, Tag tag);
    /// Records the next `bursts` bursts, of which the first is read in clock `first`.
    void record(MemoryClockNumber first, std::uint64_t bursts);
    /// Counts all clocks before `until` that are not counted yet.
    void spend(Counter& on, MemoryClockNumber until, Tag tag);

    const machine::DramConfig& dram_;
    DramCounters& counters_;
    std::vector<Bank> banks_;
    std::deque<Run> runs_;                 ///< at least the last `queue_bursts` bursts
    std::uint64_t bursts_ = 0;             ///< read so far
    MemoryClockNumber read_from_ = 0;      ///< earliest read of the next burst after the previous one
    MemoryClockNumber activate_from_ = 0;  ///< earliest activation after the previous one and after a refresh
    /// tFAW: the earliest clocks of the next four activations, each by the activation four before it. The
    /// next one is at `oldest_activation_`.
    std::array<MemoryClockNumber, 4> window_{};
    std::size_t oldest_activation_ = 0;
    MemoryClockNumber next_refresh_;
    MemoryClockNumber refreshed_ = 0;  ///< the end of the last refresh
    MemoryClockNumber spent_ = 0;
};

}  // namespace systole::hw
