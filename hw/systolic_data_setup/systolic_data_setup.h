#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <systemc>
#include <vector>

#include "hw/common/command_queue.h"
#include "hw/common/counter.h"
#include "hw/common/matrix_interfaces.h"
#include "hw/common/memory_interfaces.h"
#include "hw/common/queued_unit.h"
#include "hw/common/trace.h"
#include "hw/common/unit_context.h"
#include "hw/common/unit_counters.h"
#include "hw/common/unit_waves.h"
#include "hw/isa/footprint.h"
#include "hw/timing/matrix_unit.h"

namespace systole::hw {

struct SystolicDataSetupCounters final : UnitCounters {
    Counter& array_cycles = add("array_cycles", CounterUnit::Cycles,
                                "waited for the array: for its input, a weight tile or a memory port");
    Counter& rows = add("rows", CounterUnit::Rows, "rows streamed into the array");
    Counter& fetches = add("fetches", CounterUnit::Rows, "unified-buffer accesses made for them");
};

/// Beside the cycles that partition the run.
struct LineCounters final : CounterGroup {
    Counter& fetch_cycles =
        add("fetch_cycles", CounterUnit::Cycles,
            "cycles of the accesses that fetch the lines, whatever the array does meanwhile");
};

/// Executes the matrix queue: reads the rows of `matrix_multiply` and the windows of `convolve` from the
/// unified buffer and streams them into the matrix unit, skewed so that each element meets the wavefront in
/// its cycle.
///
/// Timing: `fetches_per_cycle` accesses per cycle, each of up to one row of bytes. A row of `matrix_multiply`
/// takes one access for each byte of an element. A line of windows takes timing::kernel_row_fetches accesses
/// for each kernel row from which it needs elements. If this fits in the line's cycles of array input, rows
/// follow each other without a gap; otherwise each line takes as long as its accesses.
class SystolicDataSetup final : public QueuedUnit<SystolicDataSetupCounters>, public RowSource {
public:
    SystolicDataSetup(const sc_core::sc_module_name& name, const UnitContext& context,
                      UnifiedBufferAccess& buffer, StreamSink& array);

    StreamRows enter(std::uint32_t elements) override;

private:
    void describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const override;
    std::vector<UnitBound> bounds(const machine::MachineConfig& machine) const override;
    std::unique_ptr<TraceListener> waves(WaveMaker& maker) const override;
    std::optional<AwaitedWork> awaited(isa::QueueId queue) const override;
    /// Streams all repetitions; returns the cycle in which the last one is complete.
    Cycle stream(const Command& command);
    StreamRows rows_of(const isa::MatrixMultiply& multiply, const isa::Registers& registers) const;
    StreamRows rows_of(const isa::Convolve& convolve, const isa::Registers& registers,
                       std::uint32_t elements) const;

    const std::uint32_t array_rows_;
    UnifiedBufferAccess& buffer_;
    StreamSink& array_;

    // The stream under way.
    std::uint32_t repetition_ = 0;
    timing::StreamCost cost_;  ///< cost of the current repetition

    LineCounters line_counters_;
};

}  // namespace systole::hw
