#pragma once

#include <cstdint>
#include <systemc>
#include <vector>

#include "base/cycle.h"
#include "hw/common/counter.h"
#include "hw/common/queued_unit.h"
#include "hw/common/tile_interfaces.h"
#include "hw/common/unit_context.h"
#include "hw/common/unit_counters.h"
#include "hw/isa/instruction.h"
#include "hw/isa/tile_grid.h"
#include "hw/timing/tiles.h"

namespace systole::hw {

struct MeshCounters final : UnitCounters {
    Counter& bytes = add("bytes", CounterUnit::Bytes, "elements that went from tile to tile");
};

/// The links between neighbouring tiles, over which they fill the margins of their patches, and move pixels
/// of one image to their places in another.
///
/// Timing: all links move bytes at once, first up and down, then left and right; the one with the most bytes
/// takes the time.
class Mesh final : public QueuedUnit<MeshCounters> {
public:
    Mesh(const sc_core::sc_module_name& name, const UnitContext& context, NarrowMemoryAccess& narrow);

private:
    void describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const override;
    std::vector<UnitBound> bounds(const machine::MachineConfig& machine) const override;
    void execute(const Command& command);
    /// Each returns the bytes of the busiest links.
    std::uint64_t exchange(const Command& command);
    std::uint64_t move(const isa::Move& move, const Command& command);
    std::uint64_t permute(const isa::Permute& permute, const Command& command);
    std::uint64_t count(const timing::MoveCost& cost, const Command& command);

    const isa::TileGrid grid_;
    const Rate rate_;
    const Cycle latency_;
    NarrowMemoryAccess& narrow_;
};

}  // namespace systole::hw
