#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <systemc>
#include <vector>

#include "hw/common/command_queue.h"
#include "hw/common/counter.h"
#include "hw/common/memory_interfaces.h"
#include "hw/common/queued_unit.h"
#include "hw/common/tile_interfaces.h"
#include "hw/common/unit_context.h"
#include "hw/common/unit_counters.h"
#include "hw/isa/tile_grid.h"
#include "hw/tile_array/engine.h"
#include "hw/tile_array/work.h"

namespace systole::hw {

struct TileArrayCounters final : UnitCounters {
    Counter& ring_stall_cycles =
        add("ring_stall_cycles", CounterUnit::Cycles, "weights had not come over the ring");
};

/// The parts of `sync_cycles`, by the queue that ended the wait.
struct TileWaitCounters final : CounterGroup {
    Counter& host_read_cycles =
        add("host_read_cycles", CounterUnit::Cycles, "waited for a signal of the link's reads");
    Counter& ring_cycles = add("ring_cycles", CounterUnit::Cycles, "waited for a signal of the ring");
    Counter& mesh_cycles = add("mesh_cycles", CounterUnit::Cycles, "waited for a signal of the mesh");
    Counter& host_write_cycles =
        add("host_write_cycles", CounterUnit::Cycles, "waited for a signal of the link's writes");
    Counter& host_cycles = add("host_cycles", CounterUnit::Cycles, "waited for a signal of the host");
    Counter& tiles_cycles = add("tiles_cycles", CounterUnit::Cycles, "waited for a signal of their own");

    CommandQueue::WaitCounters by_queue();
};

/// The tiles. All of them execute the same instructions, so that a step takes as long as in the fullest tile.
///
/// Timing: a part of a block takes a cycle for each of its weight rows and each pixel for which the tile has
/// sums; a depthwise product takes its multiply-accumulates at a rate of its own. A part begins when it is
/// whole in a weight buffer. Results are in narrow memory `result_cycles` after the last cycle.
class TileArray final : public QueuedUnit<TileArrayCounters> {
public:
    TileArray(const sc_core::sc_module_name& name, const UnitContext& context, WeightParts& weights,
              const TileMemories& memories, HostMemoryAccess& host_memory);

private:
    void describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const override;
    std::vector<UnitBound> bounds(const machine::MachineConfig& machine) const override;
    std::optional<AwaitedWork> awaited(isa::QueueId queue) const override;
    void execute(const Command& command);
    void multiply(const Product& product);
    /// Throws InstructionError unless the part is the one that the product needs.
    void check_part(const Product& product, const ProductPart& part, std::uint64_t first_row,
                    std::uint64_t rows) const;
    /// The product's blocks; null in a run without values.
    const std::uint8_t* parameters_of(const Product& product);
    void count_moves(const Product& product);

    const isa::TileGrid grid_;
    WeightParts& weights_;
    NarrowMemoryAccess& narrow_;
    WideMemoryAccess& wide_;
    HostMemoryAccess& host_memory_;
    TileCounters done_;
    TileWaitCounters waits_;
    const std::unique_ptr<TileEngine> engine_;
};

}  // namespace systole::hw
