#pragma once

#include <cstdint>
#include <optional>
#include <systemc>
#include <vector>

#include "base/cycle.h"
#include "hw/common/counter.h"
#include "hw/common/matrix_interfaces.h"
#include "hw/common/own_writes.h"
#include "hw/common/queued_unit.h"
#include "hw/common/tensor_interfaces.h"
#include "hw/common/unit_context.h"
#include "hw/common/unit_counters.h"
#include "hw/isa/footprint.h"
#include "hw/isa/instruction.h"
#include "hw/isa/tensor_shape.h"
#include "hw/timing/tensor.h"

namespace systole::hw {

struct ProductSetupCounters final : UnitCounters {
    Counter& rows = add("rows", CounterUnit::Rows, "rows streamed into the array");
    Counter& fetches = add("fetches", CounterUnit::Rows, "rows of vector memory read for them");
    Counter& drain_cycles = add("drain_cycles", CounterUnit::Cycles,
                                "an instruction waited for earlier writes of the rows that it reads");
    Counter& array_cycles = add("array_cycles", CounterUnit::Cycles,
                                "the array had rows of the instruction before, or no weights for these");
};

struct ProductLineCounters final : CounterGroup {
    Counter& fetch_cycles = add("fetch_cycles", CounterUnit::Cycles, "of reading rows of vector memory");
};

/// Streams rows of vector memory, or windows of images there, into the array.
///
/// Timing: rows enter the array in the cycles that `timing::streamed_product` gives, as soon as earlier
/// products have written those of them that they write, and the array has passed the rows before and has the
/// weights.
class ProductSetup final : public QueuedUnit<ProductSetupCounters>, private RowSource {
public:
    ProductSetup(const sc_core::sc_module_name& name, const UnitContext& context,
                 WordMemoryAccess& vector_memory, StreamSink& array);

private:
    void describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const override;
    std::vector<UnitBound> bounds(const machine::MachineConfig& machine) const override;
    std::optional<AwaitedWork> awaited(isa::QueueId queue) const override;
    void execute(const Command& command);
    StreamRows enter(std::uint32_t elements) override;
    /// The jobs of products have no order but for rows that both write: puts this one behind all others if it
    /// reads rows that one of them writes, or the other way round.
    void order_jobs(const isa::Footprint& footprint);
    StreamRows rows_of(const isa::Product& product, const isa::Registers& registers) const;

    const isa::TensorShape shape_;
    WordMemoryAccess& vector_memory_;
    StreamSink& array_;
    timing::StreamedProduct cost_;  ///< of the instruction under way
    OwnWrites own_writes_{isa::MemoryId::VectorMemory};
    std::vector<isa::Footprint> unordered_;  ///< of products whose jobs may run beside each other
    ProductLineCounters line_counters_;
};

}  // namespace systole::hw
