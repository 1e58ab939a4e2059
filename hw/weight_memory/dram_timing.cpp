#include "hw/weight_memory/dram_timing.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "base/arithmetic.h"
#include "hw/common/weight_link.h"
#include "hw/timing/transfers.h"

namespace systole::hw {

namespace {

std::uint64_t narrow(Uint128 number) {
    // Leaves one bit free, because callers add clocks to the result.
    if (number > std::numeric_limits<std::uint64_t>::max() / 2) {
        throw std::overflow_error("a read of the weight memory ends later than 64 bits of clocks hold");
    }
    return static_cast<std::uint64_t>(number);
}

/// The number of memory clocks that have ended by the beginning of a core cycle.
MemoryClockNumber clocks_before(Cycle cycle, machine::MemoryClock clock) {
    return narrow(multiply_divide(cycle, clock.clocks, clock.cycles));
}

/// The first memory clock that begins at or after the beginning of a core cycle.
MemoryClockNumber clock_from(Cycle cycle, machine::MemoryClock clock) {
    return narrow(multiply_divide_up(cycle, clock.clocks, clock.cycles));
}

/// The core cycle in which a memory clock begins.
Cycle cycle_of(MemoryClockNumber number, machine::MemoryClock clock) {
    return narrow(multiply_divide(number, clock.cycles, clock.clocks));
}

}  // namespace

DramTiming::DramTiming(const machine::DramConfig& dram, std::uint64_t core_hz, Cycle latency)
    : dram_(dram),
      clock_(dram.memory_clock(core_hz)),
      latency_(latency),
      channels_(dram.channels, DramChannel(dram_, counters_)) {}

Cycle DramTiming::read(std::uint64_t address, std::uint64_t bytes, Cycle issued, Tag tag) {
    const MemoryClockNumber arrival = clock_from(issued + latency_, clock_);
    MemoryClockNumber end = arrival;
    for (std::size_t channel = 0; channel < channels_.size(); ++channel) {
        const std::uint64_t burst = dram_.burst_bytes();
        std::uint64_t first = map_.in_channel(channel, address) / burst;
        const std::uint64_t last = divide_up(map_.in_channel(channel, address + bytes), burst);
        while (first < last) {
            const DramAddressMap::Piece piece = map_.piece(first, last);
            end = std::max(end, channels_[channel].read(arrival, piece, tag));
            first += piece.bursts;
        }
    }
    return cycle_of(end, clock_);
}

void DramTiming::finish(Cycle end, Tag tag) {
    for (DramChannel& channel : channels_) channel.finish(clocks_before(end, clock_), tag);
}

std::vector<UnitBound> DramTiming::bounds(const machine::MachineConfig& machine) const {
    return {weight_memory_bound([this, &machine](const Amounts& amounts) {
        const std::uint64_t busy = amounts.of(counters_.data_clocks) + amounts.of(counters_.row_clocks) +
                                   amounts.of(counters_.refresh_clocks) + amounts.of(counters_.gap_clocks);
        return timing::dram_cycles(busy, machine);
    })};
}

}  // namespace systole::hw
