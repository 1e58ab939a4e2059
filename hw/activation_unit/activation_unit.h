#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <systemc>
#include <vector>

#include "hw/activation_unit/parameters.h"
#include "hw/common/command_queue.h"
#include "hw/common/counter.h"
#include "hw/common/memory_interfaces.h"
#include "hw/common/port_arbiter.h"
#include "hw/common/queued_unit.h"
#include "hw/common/trace.h"
#include "hw/common/unit_context.h"
#include "hw/common/unit_counters.h"
#include "hw/common/unit_waves.h"
#include "hw/isa/footprint.h"
#include "hw/timing/activation_unit.h"

namespace systole::hw {

struct ActivationUnitCounters final : UnitCounters {
    Counter& rows = add("rows", CounterUnit::Rows, "accumulator rows activated");
    Counter& vector_rows =
        add("vector_rows", CounterUnit::Rows, "unified-buffer rows written by vector work");
    Counter& buffer_reads = add("buffer_reads", CounterUnit::Rows, "accesses of the unified buffer, to read");
    Counter& buffer_writes =
        add("buffer_writes", CounterUnit::Rows, "accesses of the unified buffer, to write");
    Counter& elements =
        add("elements", CounterUnit::Elements,
            "sums requantized, also those for pixels outside the image, which are not written");
    Counter& lookups = add("lookups", CounterUnit::Elements, "elements looked up in the table");
    Counter& operand_elements =
        add("operand_elements", CounterUnit::Elements, "operands of element-wise additions and products");
    Counter& pooled_elements = add("pooled_elements", CounterUnit::Elements, "elements of pooling windows");
    Counter& drain_cycles = add("drain_cycles", CounterUnit::Cycles,
                                "an instruction waited for earlier writes of the rows that it reads");
    Counter& port_stall_cycles = add("port_stall_cycles", CounterUnit::Cycles, "a memory port was taken");
};

/// Turns sums into activations: requantization, activation function, vector work and pooling, with results
/// written to the unified buffer.
///
/// Timing (docs/timing.md): one accumulator row per cycle (fewer if a row has more bytes than a
/// unified-buffer access, or is a block of several lines); each result row is in the buffer `latency` cycles
/// after its cycle. Parameters are loaded before, one unified-buffer row per cycle. Vector work takes as many
/// cycles as the greater of its unified-buffer reads and writes. Instructions follow each other without a
/// gap, except that an instruction waits until earlier writes of the rows that it reads are complete.
class ActivationUnit final : public QueuedUnit<ActivationUnitCounters> {
public:
    ActivationUnit(const sc_core::sc_module_name& name, const UnitContext& context,
                   AccumulatorAccess& accumulators, UnifiedBufferAccess& buffer);

private:
    void describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const override;
    std::vector<UnitBound> bounds(const machine::MachineConfig& machine) const override;
    std::unique_ptr<TraceListener> waves(WaveMaker& maker) const override;
    /// The rows that an instruction writes, kept until the writes are complete.
    struct Write {
        isa::RowRange rows;
        Cycle complete = 0;
    };

    void execute(const Command& command);
    /// The cycle in which earlier writes of the rows that an instruction reads are complete; at least now.
    Cycle operands_written(const isa::Footprint& footprint);
    void count(const timing::ActivationCost& cost, bool activates, Tag tag);
    timing::ActivationCost cost(const isa::BoundInstruction& bound) const;
    void take_ports(const isa::BoundInstruction& bound, const timing::ActivationCost& cost);
    /// Computes the footprint's written rows into `written`. Runs on a worker thread; only these functions
    /// use `parameters_`.
    void compute_rows(const isa::BoundInstruction& bound, std::uint8_t* written);
    void compute_rows(const isa::Activate& activate, const isa::BoundInstruction& bound,
                      std::uint8_t* written);
    void compute_rows(const isa::Vector& vector, const isa::BoundInstruction& bound, std::uint8_t* written);

    const Cycle latency_;
    AccumulatorAccess& accumulators_;
    UnifiedBufferAccess& buffer_;
    RequantizationParameters parameters_;
    Cycle free_at_ = 0;
    std::vector<Write> writes_under_way_;
    std::vector<PortArbiter::Need> needs_;
};

}  // namespace systole::hw
