#include "hw/weight_memory/dram_timing.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace systole::hw {

namespace {

// NOLINTNEXTLINE(modernize-use-using): __extension__ goes with typedef alone.
__extension__ typedef unsigned __int128 Wide;  // a product of two 64-bit numbers

std::uint64_t narrow(Wide number) {
    // A bit to spare: clocks are added to what comes out of here.
    if (number > std::numeric_limits<std::uint64_t>::max() / 2) {
        throw std::overflow_error("a read of the weight memory ends later than 64 bits of clocks hold");
    }
    return static_cast<std::uint64_t>(number);
}

/// Whole memory clocks that have ended by the beginning of a core cycle.
MemoryClockNumber clocks_before(machine::Cycle cycle, machine::MemoryClock clock) {
    return narrow(Wide{cycle} * clock.clocks / clock.cycles);
}

/// The first memory clock that begins with a core cycle or after its beginning.
MemoryClockNumber clock_from(machine::Cycle cycle, machine::MemoryClock clock) {
    return narrow((Wide{cycle} * clock.clocks + clock.cycles - 1) / clock.cycles);
}

/// The core cycle in which a memory clock begins.
machine::Cycle cycle_of(MemoryClockNumber number, machine::MemoryClock clock) {
    return narrow(Wide{number} * clock.cycles / clock.clocks);
}

}  // namespace

DramTiming::DramTiming(const machine::DramConfig& dram, std::uint64_t core_hz, machine::Cycle latency)
    : dram_(dram),
      clock_(dram.memory_clock(core_hz)),
      latency_(latency),
      channels_(dram.channels, DramChannel(dram_, counters_)) {}

machine::Cycle DramTiming::read(std::uint64_t address, std::uint64_t bytes, machine::Cycle issued, Tag tag) {
    const MemoryClockNumber arrival = clock_from(issued + latency_, clock_);
    MemoryClockNumber end = arrival;
    for (std::size_t channel = 0; channel < channels_.size(); ++channel) {
        const std::uint64_t burst = dram_.burst_bytes();
        std::uint64_t first = map_.in_channel(channel, address) / burst;
        const std::uint64_t last = (map_.in_channel(channel, address + bytes) + burst - 1) / burst;
        while (first < last) {
            const DramAddressMap::Piece piece = map_.piece(first, last);
            end = std::max(end, channels_[channel].read(arrival, piece, tag));
            first += piece.bursts;
        }
    }
    return cycle_of(end, clock_);
}

void DramTiming::finish(machine::Cycle end, Tag tag) {
    for (DramChannel& channel : channels_) channel.finish(clocks_before(end, clock_), tag);
}

}  // namespace systole::hw
