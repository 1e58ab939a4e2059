#pragma once

#include "hw/common/exact_time.h"
#include "hw/machine/rate.h"
#include "hw/weight_memory/memory_timing.h"

namespace systole::hw {

/// A read's first byte comes `latency` after its issue, or behind the last byte of the read before,
/// whichever is later; then bytes come at the bandwidth, exactly. A read is done in the cycle in which
/// its last byte comes.
class BandwidthTiming final : public MemoryTiming {
public:
    BandwidthTiming(machine::Rate rate, machine::Cycle latency)
        : latency_(latency), rate_(rate.bytes, rate.cycles) {}

    machine::Cycle read(std::uint64_t address, std::uint64_t bytes, machine::Cycle issued, Tag tag) override;
    void finish(machine::Cycle, Tag) override {}
    const CounterGroup* counters() const override { return nullptr; }

private:
    const machine::Cycle latency_;
    const TransferRate rate_;
    ExactTime busy_until_;
};

}  // namespace systole::hw
