#include "sim/view/trace/waves.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <limits>
#include <utility>
#include <variant>

#include "hw/machine/config_error.h"
#include "sim/view/trace/output_file.h"
#include "sim/view/trace/wave_player.h"
#include "sim/view/trace/wave_rows.h"

namespace systole::trace {
namespace {

constexpr auto host_read_unit = static_cast<std::size_t>(isa::QueueId::HostRead);
constexpr auto host_write_unit = static_cast<std::size_t>(isa::QueueId::HostWrite);
constexpr auto host_unit = static_cast<std::size_t>(isa::QueueId::Host);
constexpr auto activation_unit_number = static_cast<std::size_t>(isa::QueueId::Activation);

/// The bits of a number up to `most`.
unsigned bits_for(std::uint64_t most) {
    return std::max(1U, static_cast<unsigned>(std::bit_width(most)));
}

std::uint64_t last_of(std::size_t count) {
    return count == 0 ? 0 : count - 1;
}

/// The window of the run file. The length of an open window is checked during the run.
WaveWindow window_of(const TraceConfig& config, bool is_open) {
    const Cycle to = is_open ? std::numeric_limits<Cycle>::max() : config.to;
    if (!is_open && to - config.from > Waves::most_cycles) {
        throw machine::ConfigError(
            fmt::format("trace.to is {}; waves show {} cycles at most, and trace.from is {}", config.to,
                        Waves::most_cycles, config.from));
    }
    return {.from = config.from, .to = to};
}

}  // namespace

Waves::Waves(const TraceConfig& config, const isa::Program& program, const machine::MachineConfig& machine,
             std::filesystem::path file)
    : program_(program),
      machine_(machine),
      name_(file.string()),
      file_(std::move(file)),
      is_open_(config.to == 0),
      window_(window_of(config, is_open_)),
      bound_(program),
      issue_(numbered("sequencer.issue", "sequencer.instruction", last_of(program.instructions.size()))),
      empty_(flag("sequencer.empty")),
      queue_full_(flag("sequencer.queue_full")),
      draining_(flag("sequencer.draining")),
      levels_at_(signals_.size()) {
    if (machine.family == machine::Family::TpuV1) array_.emplace(array_signals());
    for (const Cell& cell : read_cells(config.processing_elements, machine)) add_cell(cell);
}

Waves::ArraySignals Waves::array_signals() {
    return {
        .host_read = numbered("host_interface.read", "host_interface.read_instruction",
                              last_of(program_.instructions.size())),
        .host_write = numbered("host_interface.write", "host_interface.write_instruction",
                               last_of(program_.instructions.size())),
        .buffer_host_in = port("unified_buffer.host_in", machine_.unified_buffer.rows),
        .buffer_host_out = port("unified_buffer.host_out", machine_.unified_buffer.rows),
        .buffer_setup_read = port("unified_buffer.setup_read", machine_.unified_buffer.rows),
        .buffer_activation_read = port("unified_buffer.activation_read", machine_.unified_buffer.rows),
        .buffer_activation_write = port("unified_buffer.activation_write", machine_.unified_buffer.rows),
        .fetch = numbered("weight_memory.fetch", "weight_memory.tile", last_of(program_.tiles.size())),
        .fifo_tiles = level("weight_fifo.tiles", machine_.weight_fifo.depth_tiles),
        .fifo_whole = level("weight_fifo.whole", machine_.weight_fifo.depth_tiles),
        .active = flag("matrix_unit.active"),
        .weight_stall = flag("matrix_unit.weight_stall"),
        .weight_shift = flag("matrix_unit.weight_shift"),
        .non_matrix = flag("matrix_unit.non_matrix"),
        .raw_stall = flag("matrix_unit.raw_stall"),
        .input_stall = flag("matrix_unit.input_stall"),
        .setup_stall = flag("matrix_unit.setup_stall"),
        .port_stall = flag("matrix_unit.port_stall"),
        .matrix_layer = number("matrix_unit.layer", std::numeric_limits<hw::Tag>::max()),
        .stream_instruction = number("matrix_unit.instruction", last_of(program_.instructions.size())),
        .stream_repetition = number("matrix_unit.repetition", std::numeric_limits<std::uint8_t>::max()),
        .stream_tile = number("matrix_unit.tile", last_of(program_.tiles.size())),
        .shift = numbered("matrix_unit.shift", "matrix_unit.shift_tile", last_of(program_.tiles.size())),
        .sums_write = port("accumulators.write", machine_.accumulators.rows),
        .sums_read = port("accumulators.read", machine_.accumulators.rows),
        .activation_busy = flag("activation_unit.busy"),
        .activation_load = flag("activation_unit.load"),
        .activation_instruction =
            number("activation_unit.instruction", last_of(program_.instructions.size())),
        .activation_layer = number("activation_unit.layer", std::numeric_limits<hw::Tag>::max()),
    };
}

bool Waves::has_own_signals(std::size_t unit) const {
    constexpr std::array units{isa::QueueId::HostRead, isa::QueueId::HostWrite, isa::QueueId::Weights,
                               isa::QueueId::Matrix, isa::QueueId::Activation};
    return array_ && std::any_of(units.begin(), units.end(), [unit](isa::QueueId each) {
               return static_cast<std::size_t>(each) == unit;
           });
}

void Waves::begun(const std::vector<hw::TracedQueue>& queues) {
    // The file has them in the order of their numbers.
    std::vector<hw::TracedQueue> by_number = queues;
    std::ranges::sort(by_number, {}, &hw::TracedQueue::unit);
    std::size_t levels_end = levels_at_;
    for (const hw::TracedQueue& queue : by_number) {
        if (queue.unit >= queues_.size()) queues_.resize(queue.unit + 1);
        QueueSignals& signals = queues_[queue.unit];
        signals.prefix = queue.signals;
        signals.waiting = &level(queue.signals + "queue", machine_.sequencer.queue_depth);
        if (has_own_signals(queue.unit)) {
            std::rotate(std::next(signals_.begin(), static_cast<std::ptrdiff_t>(levels_end)),
                        std::prev(signals_.end()), signals_.end());
            ++levels_end;
        } else {
            const std::string busy = queue.unit == host_unit ? "work" : "busy";
            signals.work.emplace(numbered(queue.signals + busy, queue.signals + "instruction",
                                          last_of(program_.instructions.size())));
        }
    }
}

template <class Signal, class... Rest>
Signal& Waves::add(const std::string& name, unsigned width, Rest... rest) {
    auto signal = std::make_unique<Signal>("tpu." + name, width, window_, rest...);
    Signal& added = *signal;
    signals_.push_back(std::move(signal));
    return added;
}

DrivenSignal& Waves::flag(const std::string& name) {
    return add<DrivenSignal>(name, 1, std::optional<std::uint64_t>(0));
}

DrivenSignal& Waves::number(const std::string& name, std::uint64_t most) {
    return add<DrivenSignal>(name, bits_for(most), std::optional<std::uint64_t>());
}

Waves::NumberedFlag Waves::numbered(const std::string& flag_name, const std::string& number_name,
                                    std::uint64_t most) {
    DrivenSignal& bit = flag(flag_name);
    return {.flag = bit, .number = number(number_name, most)};
}

Waves::NumberedFlag Waves::port(const std::string& name, std::uint64_t rows) {
    return numbered(name, name + "_row", rows - 1);
}

LevelSignal& Waves::level(const std::string& name, std::uint64_t most) {
    return add<LevelSignal>(name, bits_for(most));
}

void Waves::add_cell(const Cell& cell) {
    const std::string scope = fmt::format("matrix_unit.pe_{}_{}.", cell.row, cell.column);
    constexpr unsigned element_bits = 16;
    constexpr unsigned sum_bits = 32;
    cells_.push_back({.cell = cell,
                      .activation = add<RegisterSignal>(scope + "activation", element_bits),
                      .weight = add<RegisterSignal>(scope + "weight", element_bits),
                      .shadow_weight = add<RegisterSignal>(scope + "shadow_weight", element_bits),
                      .partial_sum = add<RegisterSignal>(scope + "partial_sum", sum_bits)});
}

void Waves::heard(Cycle cycle) {
    heard_ = std::max(heard_, cycle);
    if (is_open_ && heard_ > window_.from && heard_ - window_.from > most_cycles) {
        failed_ = true;
        throw machine::ConfigError(fmt::format(
            "trace.to is missing; the run takes more than {} cycles, which is the limit of waves: "
            "give trace.from and trace.to",
            most_cycles));
    }
    constexpr std::uint64_t notes_between_checks = 4096;
    if (++notes_ % notes_between_checks != 0) return;
    std::size_t bytes = 0;
    for (const auto& signal : signals_) bytes += signal->bytes();
    if (bytes > most_bytes) {
        failed_ = true;
        throw machine::ConfigError(
            fmt::format("trace.to is {}; the events from cycle {} to {} take more than {} bytes: give fewer "
                        "cycles, or fewer processing elements",
                        is_open_ ? "missing" : std::to_string(window_.to), window_.from, heard_, most_bytes));
    }
}

void Waves::issued(const hw::IssueTimes& times) {
    heard(times.issued);
    empty_.hold(times.asked, times.arrived);
    queue_full_.hold(times.arrived, times.issued);
    if (last_issue_ != times.issued) {
        issue_.hold(times.issued, times.issued + 1, times.number);
    }
    last_issue_ = times.issued;
    if (std::holds_alternative<isa::Halt>(program_.instructions[times.number])) {
        draining_since_ = times.issued;
    }
}

void Waves::queued(const hw::QueueTimes& times) {
    heard(times.taken);
    LevelSignal& waiting = *queues_.at(times.unit).waiting;
    waiting.come(times.issued);
    waiting.go(times.taken);
}

void Waves::instruction(const hw::InstructionTimes& times) {
    heard(times.begun);
    if (const auto& work = queues_.at(times.unit).work) {
        work->hold(times.begun, times.released, times.number);
        bound_.drop(times.number);
    } else if (times.unit == host_read_unit) {
        const Cycle latency = times.complete - times.released;
        const std::uint64_t row =
            bound_[times.number].footprint.written_rows(isa::MemoryId::UnifiedBuffer).first;
        array_->host_read.hold(times.begun, times.released, times.number);
        array_->buffer_host_in.hold(times.begun + latency, times.complete, row);
        bound_.drop(times.number);
    } else if (times.unit == host_write_unit) {
        const std::uint64_t row =
            bound_[times.number].footprint.read_rows(isa::MemoryId::UnifiedBuffer).first;
        array_->host_write.hold(times.begun, times.released, times.number);
        array_->buffer_host_out.hold(times.begun, times.released, row);
        bound_.drop(times.number);
    } else if (times.unit == activation_unit_number) {
        activation_unit(times);
        bound_.drop(times.number);
    }
}

void Waves::stalled(const hw::StallTimes& times) {
    heard(times.until);
    QueueSignals& signals = queues_.at(times.unit);
    const std::string name =
        signals.prefix + std::string(times.reason.substr(0, times.reason.rfind("_cycles")));
    auto found = signals.stalls.find(name);
    if (found == signals.stalls.end()) found = signals.stalls.emplace(name, &flag(name)).first;
    found->second->hold(times.from, times.until);
}

void Waves::activation_unit(const hw::InstructionTimes& times) {
    const isa::BoundInstruction& bound = bound_[times.number];
    const std::uint64_t row_bytes = machine_.matrix_unit.rows;
    array_->activation_busy.hold(times.begun, times.released);
    array_->activation_load.hold(times.begun, times.loaded);
    array_->activation_instruction.hold(times.begun, times.released, times.number);
    array_->activation_layer.hold(times.begun, times.released, times.tag);

    array_->buffer_activation_read.flag.hold(times.begun, times.loaded);
    table_reads(bound, {times.begun, times.loaded}, array_->buffer_activation_read.number);
    if (const auto* activate = std::get_if<isa::Activate>(&bound.instruction)) {
        array_->sums_read.flag.hold(times.loaded, times.released);
        if (activate->length > 0) {
            array_->sums_read.number.drive({.begin = times.loaded,
                                            .end = times.released,
                                            .first = activate->accumulator_row,
                                            .step = 1,
                                            .every = (times.released - times.loaded) / activate->length});
        }
    } else {
        array_->buffer_activation_read.flag.hold(times.loaded, times.released);
        vector_reads(std::get<isa::Vector>(bound.instruction), *bound.registers,
                     {times.loaded, times.released}, row_bytes, array_->buffer_activation_read.number);
    }
    const Cycle latency = times.complete - times.released;
    const PortCycles written{times.loaded + latency, times.complete};
    array_->buffer_activation_write.flag.hold(written.begin, written.end);
    activation_writes(bound, written, row_bytes, array_->buffer_activation_write.number);
}

void Waves::tile_fetched(const hw::TileTimes& times) {
    heard(times.fetched);
    array_->fifo_tiles.come(times.fetched);
    array_->fifo_whole.come(times.whole);
    // Tiles are shown one after the other, as on the timeline.
    const Cycle begun = std::max(times.fetched, last_whole_);
    last_whole_ = std::max(times.whole, last_whole_);
    array_->fetch.hold(begun, last_whole_, times.tile);
    tiles_.push_back(times.tile);
}

void Waves::tile(const hw::TileTimes& times) {
    heard(times.shifted);
    array_->fifo_tiles.go(times.shifted);
    array_->fifo_whole.go(times.shifted);
    array_->shift.hold(times.shifting, times.shifted, times.tile);
}

void Waves::matrix_idle(const hw::MatrixIdleTimes& times) {
    if (!array_) return;
    Cycle begin = times.begin;
    const auto part = [&](DrivenSignal& cause, Cycle cycles) {
        cause.hold(begin, begin + cycles);
        begin += cycles;
    };
    array_->raw_stall.hold(begin, begin + times.activations);
    array_->input_stall.hold(begin, begin + times.inputs);
    part(array_->non_matrix, times.idle.without_rows);
    part(array_->weight_stall, times.idle.without_tile);
    part(array_->weight_shift, times.idle.shifting);
    array_->non_matrix.hold(begin, begin + times.idle.without_port);
    part(array_->port_stall, times.idle.without_port);
    array_->matrix_layer.hold(times.begin, begin, times.tag);
}

void Waves::stream(const hw::StreamTimes& times) {
    heard(times.begun);
    if (!array_) return;
    if (!times.keep_weights && !tiles_.empty()) {
        tile_in_array_ = tiles_.front();
        tiles_.pop_front();
    }
    const bool repeats = streaming_ == times.number;
    if (streaming_ && !repeats) bound_.drop(*streaming_);
    repetition_ = repeats ? repetition_ + 1 : 0;
    streaming_ = times.number;

    const Cycle end = times.begun + times.lines * times.line_cycles;
    array_->stream_instruction.hold(times.begun, end, times.number);
    array_->stream_repetition.hold(times.begun, end, repetition_);
    array_->stream_tile.hold(times.begun, end, tile_in_array_);
    array_->matrix_layer.hold(times.begun, end, times.tag);
    const bool has_gaps = times.line_rows * times.passes < times.line_cycles;
    if (has_gaps) {
        for (Cycle line = times.begun; line < end; line += times.line_cycles) enter_line(line, times);
    } else {
        array_->active.hold(times.begun, end);
        const Cycle written = sums_written(times);
        array_->sums_write.flag.hold(written, written + (end - times.begun));
    }
    array_->buffer_setup_read.flag.hold(times.begun, end);
    stream_reads(bound_[times.number], times, repetition_, machine_.matrix_unit.rows,
                 array_->buffer_setup_read.number);
    stream_writes(times, array_->sums_write.number);
    array_free_ = end;
}

void Waves::enter_line(Cycle begin, const hw::StreamTimes& times) {
    const Cycle entered = begin + times.line_rows * times.passes;
    const Cycle end = begin + times.line_cycles;
    array_->active.hold(begin, entered);
    array_->non_matrix.hold(entered, end);
    array_->setup_stall.hold(entered, end);
    const Cycle latency = sums_written(times) - times.begun;
    array_->sums_write.flag.hold(begin + latency, entered + latency);
}

void Waves::ended(Cycle end, hw::Tag tag) {
    heard(end);
    if (array_) {
        array_->non_matrix.hold(array_free_, end);
        array_->matrix_layer.hold(array_free_, end, tag);
    }
    if (draining_since_) draining_.hold(*draining_since_, end);
    end_ = end;
}

void Waves::cycle(Cycle cycle, const hw::ArrayRegisters& registers) {
    heard(cycle);
    for (CellSignals& signals : cells_) {
        const std::size_t place = signals.cell.row * registers.columns + signals.cell.column;
        signals.activation.put(cycle, registers.activations[place]);
        signals.weight.put(cycle, registers.weights[place]);
        signals.shadow_weight.put(cycle, registers.shadow_weights[place]);
        signals.partial_sum.put(cycle, registers.partial_sums[place]);
    }
}

void Waves::write() {
    const Cycle to = std::min(window_.to, end_.value_or(heard_));
    if (failed_ || to <= window_.from) return;
    for (const auto& signal : signals_) signal->finish();
    play(signals_, window_.from, to, file_.place(), name_);
    file_.commit();
}

}  // namespace systole::trace
