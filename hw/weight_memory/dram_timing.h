#pragma once

#include <cstdint>
#include <vector>

#include "hw/weight_memory/dram_address.h"
#include "hw/weight_memory/dram_channel.h"
#include "hw/weight_memory/memory_timing.h"

namespace systole::hw {

/// The timing of a double-data-rate DRAM. A read arrives in the first memory clock at or after its issue plus
/// `latency` core cycles. Each channel reads its part of the bytes in whole bursts (see DramChannel). The
/// read is done in the cycle in which the last burst of all channels ends.
class DramTiming final : public MemoryTiming {
public:
    DramTiming(const machine::DramConfig& dram, std::uint64_t core_hz, Cycle latency);

    Cycle read(std::uint64_t address, std::uint64_t bytes, Cycle issued, Tag tag) override;
    void finish(Cycle end, Tag tag) override;
    const CounterGroup* counters() const override { return &counters_; }
    std::vector<UnitBound> bounds(const machine::MachineConfig& machine) const override;

private:
    const machine::DramConfig dram_;
    const machine::MemoryClock clock_;
    const Cycle latency_;
    const DramAddressMap map_{dram_};
    DramCounters counters_;
    std::vector<DramChannel> channels_;
};

}  // namespace systole::hw
