#pragma once

#include <cstdint>
#include <systemc>
#include <vector>

#include "hw/common/counter.h"
#include "hw/common/own_writes.h"
#include "hw/common/queued_unit.h"
#include "hw/common/tensor_interfaces.h"
#include "hw/common/unit_context.h"
#include "hw/common/unit_counters.h"
#include "hw/isa/instruction.h"
#include "hw/isa/tensor_shape.h"
#include "hw/timing/tensor.h"

namespace systole::hw {

struct CrossLaneUnitCounters final : UnitCounters {
    Counter& vectors = add("vectors", CounterUnit::Vectors, "moved between lanes");
    Counter& drain_cycles = add("drain_cycles", CounterUnit::Cycles,
                                "an instruction waited for earlier writes of the rows that it reads");
};

/// Moves words between lanes: reduces each row to one number, transposes, and copies columns to other ones.
///
/// Timing: vectors pass at the machine's rate; results are there `cross_lane_unit.latency_cycles` after the
/// last one. Instructions follow each other without a gap, except that one waits until earlier writes of the
/// rows that it reads are complete.
class CrossLaneUnit final : public QueuedUnit<CrossLaneUnitCounters> {
public:
    CrossLaneUnit(const sc_core::sc_module_name& name, const UnitContext& context,
                  WordMemoryAccess& vector_memory);

private:
    void describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const override;
    std::vector<UnitBound> bounds(const machine::MachineConfig& machine) const override;
    void execute(const Command& command);
    void reduce(const isa::ReduceLanes& reduce, const isa::Registers& registers);
    void transpose(const isa::Transpose& transpose);
    void move(const isa::MoveLanes& move, const isa::Registers& registers);

    const isa::TensorShape shape_;
    WordMemoryAccess& vector_memory_;
    OwnWrites own_writes_{isa::MemoryId::VectorMemory};
};

}  // namespace systole::hw
