#pragma once

#include <cstdint>
#include <systemc>
#include <vector>

#include "hw/common/command_queue.h"
#include "hw/common/counter.h"
#include "hw/common/memory_interfaces.h"
#include "hw/common/queued_unit.h"
#include "hw/common/unit_bound.h"
#include "hw/common/unit_context.h"
#include "hw/common/unit_counters.h"
#include "hw/common/weight_link.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"
#include "hw/machine/unit_description.h"

namespace systole::hw {

struct WeightWriterCounters final : UnitCounters {
    Counter& tiles = add("tiles", CounterUnit::Tiles, "tiles written into weight memory");
    Counter& bytes = add("bytes", CounterUnit::Bytes, "bytes written into weight memory");
    Counter& buffer_reads = add("buffer_reads", CounterUnit::Rows, "accesses of the unified buffer");
    Counter& port_stall_cycles = add("port_stall_cycles", CounterUnit::Cycles, "a memory port was taken");
};

/// Writes weight tiles from the unified buffer into weight memory. A machine has one if its weight memory is
/// writable.
///
/// Timing: it reads the rows of the source, one access a cycle, into a buffer of one tile; then it asks the
/// memory, which it shares with the weight FIFO, to take the tile. It is busy until the tile's last byte is
/// in the memory.
class WeightWriter final : public QueuedUnit<WeightWriterCounters> {
public:
    /// `arrived`: what the FIFO of the core reads of the same memory.
    WeightWriter(const sc_core::sc_module_name& name, const UnitContext& context, UnifiedBufferAccess& buffer,
                 SharedWeights& memory, const ArrivedWeights& arrived);

    /// The program, whose first tile is in weight memory at `address`, must outlive the unit.
    void load(const isa::Program& program, std::uint64_t address);

private:
    void describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const override;
    std::vector<UnitBound> bounds(const machine::MachineConfig& machine) const override;
    void execute(const Command& command);
    /// Hands over the computation of the tile's values.
    void write_values(const Command& command);

    UnifiedBufferAccess& buffer_;
    SharedWeights& memory_;
    const ArrivedWeights& arrived_;
    const isa::Program* program_ = nullptr;
    std::vector<std::uint64_t> ends_;  ///< of the tiles in weight memory
};

}  // namespace systole::hw
