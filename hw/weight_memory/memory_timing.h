#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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
    /// The same for the last byte of a write, in one order with the reads. Throws std::logic_error if the
    /// model has no writes.
    virtual Cycle write(std::uint64_t bytes, Cycle issued);
    /// The program ended at this cycle.
    virtual void finish(Cycle end, Tag tag) = 0;
    /// The model's counters; null if it has none.
    virtual const CounterGroup* counters() const = 0;
    /// Lower bounds by these counters.
    virtual std::vector<UnitBound> bounds(const machine::MachineConfig& /*machine*/) const { return {}; }
};

/// A way of bytes into a memory or out of it.
struct MemoryWay {
    Rate rate;
    Cycle latency = 0;  ///< from a request to its first byte
};

/// A memory with latency and exact bandwidth. A request's bytes begin to move `latency` cycles after its
/// issue or after the last byte of the previous request, whichever is later; behind a request of the other
/// direction, in the first whole cycle. A request is done in the cycle in which its last byte has moved.
class BandwidthTiming final : public MemoryTiming {
public:
    /// `writes`: absent if the memory is read-only.
    explicit BandwidthTiming(const MemoryWay& reads, const std::optional<MemoryWay>& writes = std::nullopt)
        : reads_(reads), writes_(writes) {}

    Cycle read(std::uint64_t address, std::uint64_t bytes, Cycle issued, Tag tag) override;
    Cycle write(std::uint64_t bytes, Cycle issued) override;
    void finish(Cycle, Tag) override {}
    const CounterGroup* counters() const override { return nullptr; }

private:
    enum class Direction : std::uint8_t { Read, Write };
    Cycle move(const MemoryWay& way, Direction direction, std::uint64_t bytes, Cycle issued);

    const MemoryWay reads_;
    const std::optional<MemoryWay> writes_;
    Direction last_ = Direction::Read;
    ExactTime busy_until_;  ///< by the rate of `last_`
};

/// The model that the machine selects.
std::unique_ptr<MemoryTiming> make_memory_timing(const machine::MachineConfig& machine);

}  // namespace systole::hw
