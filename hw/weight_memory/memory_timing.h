#pragma once

#include <cstdint>
#include <memory>

#include "hw/base/cycle.h"
#include "hw/common/counter.h"
#include "hw/machine/machine_config.h"

namespace systole::hw {

/// When the bytes of the weights come. Reads are told in the order of their issue.
class MemoryTiming {
public:
    virtual ~MemoryTiming() = default;

    /// A read of `bytes` bytes from `address` on, issued in this cycle: the cycle in which its last byte
    /// comes. Throws std::overflow_error where that is no 64-bit cycle.
    virtual Cycle read(std::uint64_t address, std::uint64_t bytes, Cycle issued, Tag tag) = 0;
    /// The program ended at this cycle.
    virtual void finish(Cycle end, Tag tag) = 0;
    /// What it counts; null where that is nothing.
    virtual const CounterGroup* counters() const = 0;
};

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

/// The model the machine names.
std::unique_ptr<MemoryTiming> make_memory_timing(const machine::MachineConfig& machine);

}  // namespace systole::hw
