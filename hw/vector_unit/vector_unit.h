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
#include "hw/isa/program.h"
#include "hw/isa/tensor_shape.h"
#include "hw/timing/tensor.h"

namespace systole::hw {

struct VectorUnitCounters final : UnitCounters {
    Counter& operations = add("operations", CounterUnit::Vectors, "operations on whole vectors");
    Counter& loads = add("loads", CounterUnit::Vectors, "from vector memory");
    Counter& stores = add("stores", CounterUnit::Vectors, "to vector memory");
    Counter& drain_cycles = add("drain_cycles", CounterUnit::Cycles,
                                "an instruction waited for earlier writes of the rows that it reads");
};

/// What the busy cycles were spent on; they sum to them.
struct VectorWorkCounters final : CounterGroup {
    Counter& chain_cycles = add("chain_cycles", CounterUnit::Cycles, "element-wise work");
    Counter& reduction_cycles = add("reduction_cycles", CounterUnit::Cycles, "reductions of rows");
};

/// Works element by element on rows of vector memory, and reduces rows.
///
/// Timing: operations, loads and stores of an instruction go on side by side, each at its rate; the one that
/// takes longest takes the time. Results are there `vector_unit.latency_cycles` later. Instructions follow
/// each other without a gap.
class VectorUnit final : public QueuedUnit<VectorUnitCounters> {
public:
    /// The program must outlive the unit.
    VectorUnit(const sc_core::sc_module_name& name, const UnitContext& context, const isa::Program& program,
               WordMemoryAccess& vector_memory);

private:
    void describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const override;
    std::vector<UnitBound> bounds(const machine::MachineConfig& machine) const override;
    void execute(const Command& command);
    void run(const isa::RunChain& run, const isa::Registers& registers);
    void reduce(const isa::ReduceRows& reduce, const isa::Registers& registers);

    const isa::TensorShape shape_;
    const isa::Program& program_;
    WordMemoryAccess& vector_memory_;
    OwnWrites own_writes_{isa::MemoryId::VectorMemory};
    VectorWorkCounters work_;
};

}  // namespace systole::hw
