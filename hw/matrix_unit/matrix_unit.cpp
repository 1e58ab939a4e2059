#include "hw/matrix_unit/matrix_unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "hw/common/order_checker.h"
#include "hw/common/ports.h"

namespace systole::hw {

MatrixUnit::MatrixUnit(const sc_core::sc_module_name& name, const UnitContext& context, TileSource& weights,
                       AccumulatorAccess& accumulators, const MatrixUnitOptions& options)
    : UnitModule(name),
      context_(context),
      cells_(std::uint64_t{context.machine.matrix_unit.rows} * context.machine.matrix_unit.columns),
      arrays_(context.machine.matrix_unit.arrays),
      latency_(timing::matrix_latency(context.machine)),
      accumulators_(accumulators),
      engine_(make_engine(context, weights, options.registers)),
      counters_(neighbours_of(context.machine.family), options.row_sums),
      reasons_(neighbours_of(context.machine.family), options.host, options.collectives) {
    register_counters(counters_);
    register_counters(std::string(basename()) + ".non_matrix_reasons", reasons_);
}

void MatrixUnit::check(const Stream& stream, const Tile& tile) const {
    if (tile.rows == 0) {
        throw InstructionError(stream.number, "it keeps the weights in the array, where there are none yet");
    }
    if (tile.type != stream.weights) {
        throw InstructionError(stream.number,
                               fmt::format("its weights are {}-bit, the tile it meets is {}-bit",
                                           8 * bytes_of(stream.weights), 8 * bytes_of(tile.type)));
    }
    if (stream.blocks && !tile.block_macs.empty() && tile.block_macs.size() != stream.blocks->pixels()) {
        throw InstructionError(stream.number,
                               fmt::format("its blocks have {} pixels, the tile it meets is for blocks of {}",
                                           stream.blocks->pixels(), tile.block_macs.size()));
    }
    const machine::MatrixUnitConfig& array = context_.machine.matrix_unit;
    if (!array.passes(stream.activations, stream.weights)) {
        throw std::logic_error("a stream of number formats that the machine does not list");
    }
    if (!is_integer(stream.activations) && (stream.passes != 1 || stream.weight_zero_point != 0)) {
        throw std::logic_error("a stream of floats takes one pass a row, and its weights no zero point");
    }
}

void MatrixUnit::take_ports(const Stream& stream, const timing::StreamShape& shape) {
    needs_.clear();
    needs_.push_back({.port = buffer_read_port, .cycles = shape.span()});
    const auto [first, last] = accumulators_.banks(stream.accumulator_row, shape.rows());
    for (std::size_t bank = first; bank <= last; ++bank) {
        needs_.push_back({.port = first_bank_port + bank, .offset = latency_, .cycles = shape.input_span()});
    }
    context_.ports.acquire(matrix_user, needs_);
}

Cycle MatrixUnit::enter(const Stream& stream) {
    const timing::StreamShape shape{stream.lines, stream.line_rows, stream.passes, stream.line_cycles,
                                    stream.arrays};
    engine_->offer(stream);
    const Tile tile = engine_->tile_of(stream);
    check(stream, tile);
    take_ports(stream, shape);
    const Cycle entry = context_.clock.now();

    // The stream is complete: its last sums are written and its last line is fetched.
    const Cycle free_at = entry + shape.span();
    const Cycle complete = entry + timing::stream_completion(shape, latency_);
    const bool computed = context_.computes_values();
    const IdleCycles idle = engine_->enter(
        {.stream = stream,
         .shape = shape,
         .rows = stream.source->enter(tile.rows),
         .sums = computed ? accumulators_.write(stream.accumulator_row, shape.rows()) : nullptr,
         .sums_stride = accumulators_.columns(),
         .complete = complete});
    sc_assert(idle.sum() == entry - input_free_at_);
    count_idle(stream, shape, idle);
    count(stream, shape, tile);
    if (context_.trace != nullptr) {
        context_.trace->stream({.number = stream.number,
                                .tag = stream.tag,
                                .begun = entry,
                                .summed = entry + latency_,
                                .lines = stream.lines,
                                .line_rows = shape.line_input_cycles() / stream.passes,
                                .passes = stream.passes,
                                .line_cycles = stream.line_cycles,
                                .accumulator_row = stream.accumulator_row,
                                .repetition = stream.repetition,
                                .keep_weights = stream.keep_weights});
    }
    input_free_at_ = free_at;
    context_.waits.forget(free_at);
    return complete;
}

void MatrixUnit::count(const Stream& stream, const timing::StreamShape& shape, const Tile& tile) {
    const Cycle active = shape.active_cycles() * arrays_;
    counters_.active_cycles.add(active, stream.tag);
    const std::uint64_t needed =
        stream.blocks && !tile.block_macs.empty()
            ? timing::multiply_accumulates(*stream.blocks, stream.first_line, stream.lines, tile.block_macs)
            : shape.rows() * tile.useful_macs;
    counters_.useful_macs.add(needed * shape.passes, stream.tag);
    counters_.unused_macs.add(active * cells_ - needed * shape.passes, stream.tag);
    counters_.multiply_accumulates.add(needed, stream.tag);
    count_non_matrix(NonMatrixReason::Setup, shape.gaps(), stream.tag);
    counters_.setup_stall_cycles.add(shape.gaps() * arrays_, stream.tag);
    if (!stream.keep_weights) counters_.tiles.add(1, stream.tag);
    if (stream.weight_zero_point != 0 && counters_.row_sums != nullptr) {
        counters_.row_sums->add(shape.rows(), stream.tag);
    }
    accumulators_.count_writes(shape.rows(), stream.tag);
    // The first pass of a row overwrites the accumulators unless the stream accumulates; later passes add.
    const std::uint64_t passes = shape.rows() * shape.passes;
    accumulators_.count_passes(passes, stream.accumulate ? passes : passes - shape.rows(), stream.tag);
}

void MatrixUnit::count_idle(const Stream& stream, const timing::StreamShape& shape, const IdleCycles& idle) {
    counters_.weight_stall_cycles.add(idle.without_tile * arrays_, stream.tag);
    counters_.weight_shift_cycles.add(idle.shifting * arrays_, stream.tag);
    count_non_matrix(NonMatrixReason::Port, idle.without_port, stream.tag);
    counters_.port_stall_cycles.add(idle.without_port * arrays_, stream.tag);
    // Cycles without rows come first.
    WaitHistory::Unmet unmet;
    if (idle.without_rows > 0) {
        const WaitHistory::Wait wait{.begin = input_free_at_,
                                     .end = input_free_at_ + idle.without_rows,
                                     .issued = stream.issued,
                                     .tag = stream.tag,
                                     .needs = stream.needs};
        unmet = context_.waits.unmet(wait);
        counters_.raw_stall_cycles.add(unmet.activations * arrays_, stream.tag);
        counters_.input_stall_cycles.add(unmet.inputs * arrays_, stream.tag);
        context_.waits.explain(wait, [this](NonMatrixReason reason, Cycle cycles, Tag tag) {
            count_non_matrix(reason, cycles, tag);
        });
    }
    if (context_.trace != nullptr) {
        context_.trace->matrix_idle({.number = stream.number,
                                     .tag = stream.tag,
                                     .begin = input_free_at_,
                                     .idle = idle,
                                     .activations = unmet.activations,
                                     .inputs = unmet.inputs,
                                     .gaps = shape.gaps(),
                                     .keep_weights = stream.keep_weights});
    }
}

void MatrixUnit::count_non_matrix(NonMatrixReason reason, Cycle cycles, Tag tag) {
    if (cycles == 0) return;
    counters_.non_matrix_cycles.add(cycles * arrays_, tag);
    reasons_.of(reason)->add(cycles * arrays_, tag);
}

void MatrixUnit::finish(Cycle end, Tag tag) {
    sc_assert(end >= input_free_at_);
    context_.waits.explain_end(
        input_free_at_, end, tag,
        [this](NonMatrixReason reason, Cycle cycles, Tag owner) { count_non_matrix(reason, cycles, owner); });
    input_free_at_ = end;
}

}  // namespace systole::hw
