#pragma once

#include "hw/base/rate.h"
#include "hw/weight_memory/memory_timing.h"

namespace systole::hw {

/// A read's first byte comes `latency` after its issue, or behind the last byte of the read before,
/// whichever is later; then bytes come at the bandwidth, exactly. A read is done in the cycle in which
/// its last byte comes.
class BandwidthTiming final : public MemoryTiming {
public:
    BandwidthTiming(Rate rate, Cycle latency) : latency_(latency), rate_(rate) {}

    Cycle read(std::uint64_t address, std::uint64_t bytes, Cycle issued, Tag tag) override;
    void finish(Cycle, Tag) override {}
    const CounterGroup* counters() const override { return nullptr; }

private:
    const Cycle latency_;
    const Rate rate_;
    ExactTime busy_until_;
};

}  // namespace systole::hw
