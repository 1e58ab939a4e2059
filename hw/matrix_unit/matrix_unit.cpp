#include "hw/matrix_unit/matrix_unit.h"

#include <algorithm>
#include <string>

#include "hw/common/ports.h"
#include "hw/isa/unit.h"

namespace systole::hw {

MatrixUnit::MatrixUnit(const sc_core::sc_module_name& name, const machine::MachineConfig& machine,
                       Values values, const Clock& clock, TileSource& weights,
                       AccumulatorAccess& accumulators, PortArbiter& ports, Failure& failure,
                       TraceSink* trace)
    : sc_module(name),
      rows_(machine.matrix_unit.rows),
      columns_(machine.matrix_unit.columns),
      latency_(machine::matrix_latency(rows_, columns_, machine.matrix_unit.mac_latency_cycles,
                                       machine.matrix_unit.setup_cycles, machine.accumulators.write_cycles)),
      values_(values),
      clock_(clock),
      weights_(weights),
      accumulators_(accumulators),
      ports_(ports),
      trace_(trace),
      engine_(make_engine(machine.matrix_unit)) {
    spawn("weight_shift", failure, [this] { shift_tiles(); });
}

void MatrixUnit::shift_tiles() {
    for (;;) {
        const Tile tile = weights_.front(wait_state_);
        clock_.wait_until(tile.whole_at);
        while (shadow_full_) {
            const WaitState::Scope scope(wait_state_, "a free weight plane");
            sc_core::wait(shadow_freed_);
        }
        clock_.wait_until(shadow_free_at_);
        clock_.wait_until(clock_.now() + machine::shift_cycles(rows_));
        weights_.release();
        shadow_ = tile;
        shadow_full_ = true;
        shadow_filled_.notify(sc_core::SC_ZERO_TIME);
    }
}

void MatrixUnit::check(const Stream& stream, const Tile& tile) const {
    if (tile.rows == 0) {
        throw StreamError(stream.number, "it keeps the weights in the array, where there are none yet");
    }
    const bool wide_tile = tile.element_bytes == 2;
    if (wide_tile != stream.wide_weights) {
        throw StreamError(stream.number,
                          std::string("its weights are ") + (stream.wide_weights ? "16" : "8") +
                              "-bit, the tile it meets is " + (wide_tile ? "16" : "8") + "-bit");
    }
}

void MatrixUnit::take_ports(const Stream& stream, const machine::StreamShape& shape, WaitState& state) {
    needs_.clear();
    needs_.push_back({.port = buffer_read_port, .cycles = shape.span()});
    const auto [first, last] = accumulators_.banks(stream.accumulator_row, shape.rows());
    for (std::size_t bank = first; bank <= last; ++bank) {
        needs_.push_back({.port = first_bank_port + bank, .offset = latency_, .cycles = shape.input_span()});
    }
    ports_.acquire(matrix_user, needs_, state);
}

Cycle MatrixUnit::enter(const Stream& stream, WaitState& state) {
    const machine::StreamShape shape{stream.lines, stream.line_rows, stream.passes, stream.line_cycles};
    const Cycle rows_ready = clock_.now();
    if (!stream.keep_weights) {
        while (!shadow_full_) {
            const WaitState::Scope scope(state, "a weight tile for instruction", stream.number);
            sc_core::wait(shadow_filled_);
        }
    }
    check(stream, stream.keep_weights ? active_ : shadow_);
    clock_.wait_until(input_free_at_);
    const Cycle asked = clock_.now();
    take_ports(stream, shape, state);
    const Cycle entry = clock_.now();

    account_wait(stream, rows_ready, entry, entry - asked);
    if (!stream.keep_weights) {
        active_ = shadow_;
        shadow_full_ = false;
        shadow_free_at_ = entry + 1;
        shadow_freed_.notify(sc_core::SC_ZERO_TIME);
        counters_.tiles.add(1, stream.tag);
    }
    const RowBlock rows = stream.source->enter(active_.rows);
    if (values_ == Values::Computed) {
        engine_->multiply(stream, rows, active_, accumulators_.write(stream.accumulator_row, shape.rows()),
                          accumulators_.columns());
    }
    accumulators_.count_writes(shape.rows(), stream.tag);

    const Cycle active = shape.active_cycles();
    counters_.active_cycles.add(active, stream.tag);
    counters_.useful_macs.add(active * active_.useful_macs, stream.tag);
    counters_.unused_macs.add(active * (rows_ * columns_ - active_.useful_macs), stream.tag);
    counters_.multiply_accumulates.add(shape.rows() * active_.useful_macs, stream.tag);
    counters_.non_matrix_cycles.add(shape.gaps(), stream.tag);
    counters_.setup_stall_cycles.add(shape.gaps(), stream.tag);
    input_free_at_ = entry + shape.span();
    // Its last sums are there, and its last line is fetched.
    const Cycle complete = std::max(entry + shape.input_span() - 1 + latency_, input_free_at_);
    if (trace_ != nullptr) {
        trace_->instruction({static_cast<std::size_t>(isa::Unit::Matrix), stream.number, stream.tag,
                             stream.issued, entry, input_free_at_, complete});
    }
    return complete;
}

void MatrixUnit::account_wait(const Stream& stream, Cycle rows_ready, Cycle entry, Cycle port_wait) {
    // An idle cycle goes to the first condition that the stream lacked in it.
    const Cycle begin = input_free_at_;
    const Cycle port_asked = entry - port_wait;
    const Cycle rows_there = std::clamp(rows_ready, begin, port_asked);
    const Cycle tile_whole =
        stream.keep_weights ? rows_there : std::clamp(shadow_.whole_at, rows_there, port_asked);
    counters_.weight_stall_cycles.add(tile_whole - rows_there, stream.tag);
    counters_.weight_shift_cycles.add(port_asked - tile_whole, stream.tag);
    counters_.non_matrix_cycles.add(rows_there - begin + port_wait, stream.tag);
    counters_.port_stall_cycles.add(port_wait, stream.tag);
    counters_.raw_stall_cycles.add(std::clamp(stream.activations_written, begin, rows_there) - begin,
                                   stream.tag);
    counters_.input_stall_cycles.add(std::clamp(stream.inputs_written, begin, rows_there) - begin,
                                     stream.tag);
}

void MatrixUnit::finish(Cycle end, Tag tag) {
    sc_assert(end >= input_free_at_);
    counters_.non_matrix_cycles.add(end - input_free_at_, tag);
    input_free_at_ = end;
}

}  // namespace systole::hw
