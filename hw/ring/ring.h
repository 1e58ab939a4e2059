#pragma once

#include <cstdint>
#include <optional>
#include <systemc>
#include <vector>

#include "base/cycle.h"
#include "hw/common/counter.h"
#include "hw/common/memory_interfaces.h"
#include "hw/common/queued_unit.h"
#include "hw/common/ring_queue.h"
#include "hw/common/tile_interfaces.h"
#include "hw/common/unit_context.h"
#include "hw/common/unit_counters.h"
#include "hw/isa/instruction.h"
#include "hw/isa/tile_grid.h"

namespace systole::hw {

struct RingCounters final : UnitCounters {
    Counter& buffer_stall_cycles =
        add("buffer_stall_cycles", CounterUnit::Cycles, "the tiles still used all weight buffers");
    Counter& staging_stall_cycles =
        add("staging_stall_cycles", CounterUnit::Cycles, "parameters had not come from the host");
    Counter& parameter_bytes = add("parameter_bytes", CounterUnit::Bytes, "parameters sent to all tiles");
    Counter& wide_bytes = add("wide_bytes", CounterUnit::Bytes, "of these, parameters from wide memory");
    Counter& vector_bytes =
        add("vector_bytes", CounterUnit::Bytes, "elements sent to one tile, and from there to all");
};

/// The ring through all tiles. It sends parameters, in parts that fit a weight buffer, from wide memory or
/// from the staging buffer to all tiles at once, and vectors of activations.
///
/// Timing: bytes follow each other at the ring's exact rate, and arrive `latency` cycles later. A part begins
/// when a weight buffer is free, which it holds until the tiles have used it.
class RingBus final : public QueuedUnit<RingCounters>, public WeightParts {
public:
    RingBus(const sc_core::sc_module_name& name, const UnitContext& context, NarrowMemoryAccess& narrow,
            WideMemoryAccess& wide, StagedParts& staged);

    const WeightPart& next() override;
    void release() override;

private:
    void describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const override;
    std::vector<UnitBound> bounds(const machine::MachineConfig& machine) const override;
    std::optional<AwaitedWork> awaited(isa::QueueId queue) const override;
    void execute(const Command& command);
    void multicast(const isa::Multicast& multicast, Tag tag);
    void send_part(WeightPart part, Tag tag);
    void collect(const isa::Collect& collect, const Command& command);
    /// Sends bytes as soon as the ring is free; returns in the cycle in which the last one leaves.
    void send(std::uint64_t bytes);

    const isa::TileGrid grid_;
    const Rate rate_;
    const Cycle latency_;
    const std::size_t buffers_;
    const bool moves_words_;  ///< parts carry their values
    NarrowMemoryAccess& narrow_;
    WideMemoryAccess& wide_;
    StagedParts& staged_;
    ExactTime free_at_;
    RingQueue<WeightPart> sent_;  ///< not released by the tiles
    sc_core::sc_event arrived_;
    sc_core::sc_event released_;
};

}  // namespace systole::hw
