#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/cycle.h"
#include "hw/common/counter.h"
#include "hw/common/unit_bound.h"
#include "hw/machine/machine_config.h"

namespace systole::hw {

/// The timing model of weight memory. Reads are given in the order of their issue.
class MemoryTiming {
public:
    virtual ~MemoryTiming() = default;

    /// The cycle in which the last byte of a read arrives that is issued in cycle `issued`. Throws
    /// std::overflow_error if the cycle exceeds 64 bits.
    virtual Cycle read(std::uint64_t address, std::uint64_t bytes, Cycle issued, Tag tag) = 0;
    /// The program ended at this cycle.
    virtual void finish(Cycle end, Tag tag) = 0;
    /// The model's counters; null if it has none.
    virtual const CounterGroup* counters() const = 0;
    /// Lower bounds by these counters.
    virtual std::vector<UnitBound> bounds(const machine::MachineConfig& /*machine*/) const { return {}; }
};

/// A memory with latency and exact bandwidth. A read's bytes begin to arrive `latency` cycles after its issue
/// or after the last byte of the previous read, whichever is later. A read is done in the cycle in which its
/// last byte arrives.
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

/// The model that the machine selects.
std::unique_ptr<MemoryTiming> make_memory_timing(const machine::MachineConfig& machine);

}  // namespace systole::hw
