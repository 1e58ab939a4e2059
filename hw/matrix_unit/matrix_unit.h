#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <systemc>
#include <vector>

#include "hw/common/counter.h"
#include "hw/common/matrix_interfaces.h"
#include "hw/common/memory_interfaces.h"
#include "hw/common/port_arbiter.h"
#include "hw/common/trace.h"
#include "hw/common/unit_context.h"
#include "hw/common/unit_module.h"
#include "hw/common/unit_waves.h"
#include "hw/common/wait_history.h"
#include "hw/machine/machine_config.h"
#include "hw/matrix_unit/engine.h"
#include "hw/timing/matrix_unit.h"

namespace systole::hw {

/// What counters say of the units around the array, which differ from family to family.
struct ArrayNeighbours {
    std::string_view without_weights;
    std::string_view without_written_rows;    ///< of stalls
    std::string_view without_delivered_rows;  ///< of stalls
    std::string_view collecting;
    // Of reasons.
    std::string_view raw;
    std::string_view input;
    std::string_view accumulators;
    std::string_view output_buffer;
    std::string_view input_buffer;
    std::string_view vector_work;
    std::string_view setup;
    // Of waves.
    bool numbers_tiles = false;  ///< the program numbers the tiles of weights
    std::string_view
        sums_memory{};  ///< whose port takes the sums, a row a cycle; empty for no port of its own
};
const ArrayNeighbours& neighbours_of(machine::Family family);

/// The cycles of the matrix unit, by what they were spent on. The first four partition all cycles, of which
/// each counts once for every array of the unit.
struct MatrixUnitCounters final : CounterGroup {
    /// `with_row_sums`: whether the program has weights with a zero point; reports of others have no row
    /// sums.
    MatrixUnitCounters(const ArrayNeighbours& its_neighbours, bool with_row_sums)
        : neighbours(its_neighbours) {
        if (!with_row_sums) return;
        row_sums = &add("row_sums", CounterUnit::Rows,
                        "streamed rows whose sum was used: the weights had a zero point");
    }

    const ArrayNeighbours& neighbours;
    Counter& active_cycles = add("active_cycles", CounterUnit::Cycles, "a row entered the array");
    Counter& weight_stall_cycles =
        add("weight_stall_cycles", CounterUnit::Cycles, neighbours.without_weights);
    Counter& weight_shift_cycles =
        add("weight_shift_cycles", CounterUnit::Cycles, "rows were there, the weight tile was shifting in");
    Counter& non_matrix_cycles =
        add("non_matrix_cycles", CounterUnit::Cycles, "no instruction issued, or its rows were not there");
    // Stalls as the ISCA 2017 paper counts them; they may overlap.
    Counter& raw_stall_cycles = add("raw_stall_cycles", CounterUnit::Cycles, neighbours.without_written_rows);
    Counter& input_stall_cycles =
        add("input_stall_cycles", CounterUnit::Cycles, neighbours.without_delivered_rows);
    Counter& setup_stall_cycles = add("setup_stall_cycles", CounterUnit::Cycles, neighbours.collecting);
    Counter& port_stall_cycles =
        add("port_stall_cycles", CounterUnit::Cycles, "non-matrix: a memory port was taken");
    // The use of the cells in active cycles; the sum is active_cycles times the number of cells.
    Counter& useful_macs = add("useful_macs", CounterUnit::Macs,
                               "cell cycles, one for each pass, spent on multiply-accumulates a layer needs; "
                               "with unused_macs active_cycles times the array's cells");
    Counter& unused_macs =
        add("unused_macs", CounterUnit::Macs, "cell cycles of active cycles spent on none");
    Counter& multiply_accumulates =
        add("multiply_accumulates", CounterUnit::Macs,
            "multiply-accumulates a layer needs, each counted once however many passes it took");
    Counter& tiles = add("tiles", CounterUnit::Tiles, "weight tiles shifted in");
    Counter* row_sums = nullptr;
};

/// The non-matrix cycles by their reason: each has one. They sum to non_matrix_cycles, in the run and under
/// each tag.
struct NonMatrixReasonCounters final : CounterGroup {
    /// `with_host`: whether the program has work for the host. `with_collectives`: whether it has sums and
    /// moves over several cores. Reports of others have no such reasons.
    NonMatrixReasonCounters(const ArrayNeighbours& its_neighbours, bool with_host, bool with_collectives)
        : neighbours(its_neighbours) {
        if (with_host) {
            of(NonMatrixReason::Host) = &add(
                "host_cycles", CounterUnit::Cycles,
                "the host computed a segment whose results were awaited, or its operands were on their way");
        }
        if (with_collectives) {
            of(NonMatrixReason::Collective) = &add(
                "collective_cycles", CounterUnit::Cycles,
                "cores summed or exchanged rows, or waited for others to do so; they count for the layer "
                "of this work");
        }
    }

    Counter*& of(NonMatrixReason reason) { return by_reason.at(static_cast<std::size_t>(reason)); }
    bool has(NonMatrixReason reason) const {
        return by_reason.at(static_cast<std::size_t>(reason)) != nullptr;
    }

    const ArrayNeighbours& neighbours;
    // In the order of NonMatrixReason.
    std::array<Counter*, non_matrix_reason_count> by_reason{
        &add("raw_cycles", CounterUnit::Cycles, neighbours.raw),
        &add("input_cycles", CounterUnit::Cycles, neighbours.input),
        &add("accumulators_cycles", CounterUnit::Cycles, neighbours.accumulators),
        &add("output_buffer_cycles", CounterUnit::Cycles, neighbours.output_buffer),
        &add("input_buffer_cycles", CounterUnit::Cycles, neighbours.input_buffer),
        &add("vector_work_cycles", CounterUnit::Cycles, neighbours.vector_work),
        &add("setup_cycles", CounterUnit::Cycles, neighbours.setup),
        &add("port_cycles", CounterUnit::Cycles, "a memory port was taken"),
        &add("not_arrived_cycles", CounterUnit::Cycles, "an instruction had not arrived from the host"),
        &add("queue_full_cycles", CounterUnit::Cycles,
             "an instruction was not issued, because the queue of its unit was full"),
        &add("issue_cycles", CounterUnit::Cycles, "the sequencer was issuing earlier instructions"),
        &add("sync_cycles", CounterUnit::Cycles,
             "a semaphore was awaited for longer than the rows and accumulators require"),
        &add("program_begin_cycles", CounterUnit::Cycles, "the first matrix instruction had not been issued"),
        &add("program_end_cycles", CounterUnit::Cycles, "the last rows had entered the array"),
        nullptr,
        nullptr};
};

/// What a program has (counters of other things are left out), and who is told the array's registers.
struct MatrixUnitOptions {
    bool host = false;
    bool row_sums = false;
    bool collectives = false;           ///< of several cores
    RegisterSink* registers = nullptr;  ///< null for none
};

/// The systolic array: weight tiles shift in from the FIFO, rows stream in from the data setup, and sums
/// leave for the accumulators. The engine moves them; this class acquires the ports, computes the cycle in
/// which a stream is complete, and counts the cycles.
///
/// Timing (docs/timing.md): a stream's row takes `passes` cycles of input; streams follow each other without
/// a gap. There are two weight planes: one computes, the shadow plane fills. A tile that is whole at the head
/// of the FIFO shifts into the shadow plane in as many cycles as the array has rows. The switch of planes
/// travels with a stream's first row and takes no time; the shadow plane is free
/// `matrix_unit.weight_switch` cycles after it.
class MatrixUnit final : public UnitModule, public StreamSink {
public:
    MatrixUnit(const sc_core::sc_module_name& name, const UnitContext& context, TileSource& weights,
               AccumulatorAccess& accumulators, const MatrixUnitOptions& options);

    Cycle enter(const Stream& stream) override;

    /// Cycles not counted yet count as non-matrix.
    void finish(Cycle end, Tag tag) override;

    math::GemmStatistics gemm() const { return engine_->gemm(); }

private:
    void describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const override;
    std::vector<UnitBound> bounds(const machine::MachineConfig& machine) const override;
    std::unique_ptr<TraceListener> waves(WaveMaker& maker) const override;
    void check(const Stream& stream, const Tile& tile) const;
    void take_ports(const Stream& stream, const timing::StreamShape& shape);
    void count(const Stream& stream, const timing::StreamShape& shape, const Tile& tile);
    void count_idle(const Stream& stream, const timing::StreamShape& shape, const IdleCycles& idle);
    void count_non_matrix(NonMatrixReason reason, Cycle cycles, Tag tag);

    const UnitContext context_;
    const std::uint64_t cells_;   ///< of an array
    const std::uint64_t arrays_;  ///< that work together; every cycle counts once for each
    const Cycle latency_;
    AccumulatorAccess& accumulators_;
    std::unique_ptr<MatrixEngine> engine_;
    Cycle input_free_at_ = 0;  ///< from this cycle on the next stream may enter

    std::vector<PortArbiter::Need> needs_;
    MatrixUnitCounters counters_;
    NonMatrixReasonCounters reasons_;
};

}  // namespace systole::hw
