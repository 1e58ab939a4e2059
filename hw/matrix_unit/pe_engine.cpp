#include "hw/matrix_unit/pe_engine.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "hw/isa/queue.h"

namespace systole::hw {

namespace {

ArrayShape shape_of(const machine::MachineConfig& machine) {
    return {.rows = machine.matrix_unit.rows,
            .columns = machine.matrix_unit.columns,
            .mac_latency = machine.matrix_unit.mac_latency_cycles,
            .stage = machine.matrix_unit.cells_per_stage,
            .weight_switch = machine.matrix_unit.weight_switch,
            .setup = machine.matrix_unit.setup_cycles,
            .write = machine.accumulators.write_cycles,
            .sum_bits = machine.accumulators.sum_bits};
}

std::int16_t byte_element(std::uint8_t byte, bool is_signed) {
    if (is_signed) return static_cast<std::int8_t>(byte);
    return byte;
}

/// Reads a weight of a row; 16-bit weights are little endian.
std::int16_t weight_element(const std::uint8_t* row, std::size_t column, DataType type) {
    switch (type) {
        case DataType::Int8:
            return byte_element(row[column], true);
        case DataType::Int16:
            return static_cast<std::int16_t>(row[2 * column] | row[2 * column + 1] << 8);
        case DataType::Uint8:
        case DataType::Uint16:
        case DataType::Int32:
        case DataType::Bfloat16:
        case DataType::Float32:
        case DataType::Uint32:
        case DataType::Float16:
        case DataType::Bool:
            break;
    }
    throw std::logic_error("weights of a format that the cells do not hold");
}

void read_weights(const std::uint8_t* row, DataType type, std::span<std::int16_t> words) {
    for (std::size_t c = 0; c < words.size(); ++c) words[c] = weight_element(row, c, type);
}

void read_weights(const std::uint8_t* row, DataType /*type*/, std::span<float> words) {
    std::memcpy(words.data(), row, words.size_bytes());
}

/// Reads what a row brings into the array in a pass, and says how the cells multiply it. In a run without
/// values, the row is null.
IntegerCells::Pass read_pass(const Stream& stream, const std::uint8_t* row, std::uint64_t pass,
                             std::span<std::int16_t> elements) {
    // Each pass multiplies one byte of the activations by one byte of the weights, low bytes first. If the
    // machine takes more passes than pairs of bytes, the additional passes add nothing.
    const std::size_t element_bytes = bytes_of(stream.activations);
    const std::size_t weight_bytes = bytes_of(stream.weights);
    const std::size_t activation_byte = pass % element_bytes;
    const std::size_t weight_byte = pass / element_bytes % weight_bytes;
    const bool multiplies = pass < element_bytes * weight_bytes;
    const bool has_sign = is_signed(stream.activations) && activation_byte + 1 == element_bytes;
    if (row != nullptr && multiplies) {
        for (std::size_t k = 0; k < elements.size(); ++k) {
            elements[k] = byte_element(row[activation_byte + k * element_bytes], has_sign);
        }
    }
    using Part = IntegerCells::WeightPart;
    return {.weight_part = weight_bytes == 1  ? Part::Whole
                           : weight_byte != 0 ? Part::HighByte
                                              : Part::LowByte,
            .weight_zero_point = static_cast<std::int16_t>(stream.weight_zero_point),
            .shift = static_cast<std::uint8_t>(8 * (activation_byte + weight_byte))};
}

FloatCells::Pass read_pass(const Stream& /*stream*/, const std::uint8_t* row, std::uint64_t /*pass*/,
                           std::span<float> elements) {
    if (row != nullptr) std::memcpy(elements.data(), row, elements.size_bytes());
    return {};
}

}  // namespace

template <class Cells>
PeEngine<Cells>::PeEngine(const sc_core::sc_module_name& name, const UnitContext& context,
                          TileSource& weights, RegisterSink* registers)
    : MatrixEngine(name, context, weights),
      shift_cycles_(timing::shift_cycles(context.machine)),
      registers_(registers),
      arrays_(context.machine.matrix_unit.arrays, PeArray<Cells>(shape_of(context.machine))),
      elements_(context.machine.matrix_unit.rows),
      words_(context.machine.matrix_unit.columns) {
    spawn("weight_feed", context.failure, [this] { feed_tiles(); });
    spawn("registers", context.failure, [this] { move_registers(); });
}

template <class Cells>
void PeEngine<Cells>::feed_tiles() {
    for (;;) {
        head_ = weights_.front();
        words_entered_ = 0;
        changed_.notify(sc_core::SC_ZERO_TIME);
        clock_.wait(shifted_);
        clock_.wait_until(clock_.now() + 1);
        weights_.release();
        fill_shadow(*head_);
        head_.reset();
    }
}

template <class Cells>
void PeEngine<Cells>::offer(const Stream& stream) {
    offered_ = &stream;
    changed_.notify(sc_core::SC_ZERO_TIME);
    if (!stream.keep_weights) wait_for_tile();
    if (!at_input_) return;
    while (at_input_) clock_.wait(input_freed_);
    clock_.wait_until(clock_.now() + 1);  // the last line of the previous stream passed in this cycle
}

template <class Cells>
IdleCycles PeEngine<Cells>::enter(EnteringStream entering) {
    const Stream& stream = entering.stream;
    const Cycle now = clock_.now();
    account_rest(now);
    if (!stream.keep_weights) switch_planes();
    // From now on the engine itself reads rows and writes sums, cycle by cycle.
    if (entering.sums != nullptr) workers_.wait_for_order(queue_);
    const RowBlock rows = entering.rows ? entering.rows(rows_) : RowBlock{};
    passing_.push_back({.stream = stream,
                        .shape = entering.shape,
                        .rows = rows,
                        .sums = entering.sums,
                        .sums_stride = entering.sums_stride,
                        .tile_rows = active_.rows,
                        .tile_columns = active_.columns,
                        .begun = now,
                        .promised = entering.complete});
    at_input_ = true;
    offered_ = nullptr;
    changed_.notify(sc_core::SC_ZERO_TIME);
    return std::exchange(idle_, {});
}

template <class Cells>
void PeEngine<Cells>::move_registers() {
    Cycle now = 0;
    for (;;) {
        clock_.wait_for_end_of(now);
        account_rest(now);
        cycle(now);
        accounted_until_ = now + 1;
        now = next_cycle(now);
    }
}

template <class Cells>
void PeEngine<Cells>::account_rest(Cycle now) {
    idle_.*resting_ += now - accounted_until_;
    accounted_until_ = now;
}

template <class Cells>
void PeEngine<Cells>::cycle(Cycle now) {
    if (at_input_) {
        enter_row(now);
    } else {
        idle_.*idle_reason(now) += 1;
    }
    if (can_shift(now)) enter_word();
    if (is_moving()) step(now);
    report_complete();
}

template <class Cells>
void PeEngine<Cells>::step(Cycle now) {
    bool is_summed = false;
    for (PeArray<Cells>& array : arrays_) {
        if (array.step()) is_summed = true;
    }
    if (is_summed) {
        const auto summed = std::find_if(passing_.begin(), passing_.end(),
                                         [](const Passing& passing) { return !passing.summed_at; });
        sc_assert(summed != passing_.end());
        summed->summed_at = now + 1;
    }
    if constexpr (Cells::multiplies_bytes) {
        if (registers_ == nullptr) return;
        const PeArray<Cells>& array = arrays_.front();
        registers_->cycle(now, {array.shape().rows, array.shape().columns, array.activations(),
                                array.weights(), array.shadow_weights(), array.partial_sums()});
    }
}

template <class Cells>
Cycle IdleCycles::*PeEngine<Cells>::idle_reason(Cycle now) const {
    if (offered_ == nullptr) return &IdleCycles::without_rows;
    if (!offered_->keep_weights && !shadow_full_) {
        return head_ && head_->whole_at <= now ? &IdleCycles::shifting : &IdleCycles::without_tile;
    }
    return &IdleCycles::without_port;
}

template <class Cells>
void PeEngine<Cells>::enter_row(Cycle now) {
    Passing& passing = passing_.back();
    const timing::StreamShape& shape = passing.shape;
    const Cycle position = now - passing.begun;
    const Cycle line = position / shape.line_cycles;
    const Cycle place = position % shape.line_cycles;
    if (place < shape.line_input_cycles()) {
        enter_pass(passing, line * shape.line_rows + place / shape.passes * shape.arrays,
                   place % shape.passes);
    }
    if (position + 1 == shape.span()) {
        passing.passed_at = now + 1;
        at_input_ = false;
        input_freed_.notify(sc_core::SC_ZERO_TIME);
    }
}

template <class Cells>
void PeEngine<Cells>::enter_pass(Passing& passing, std::uint64_t row, std::uint64_t pass) {
    const Stream& stream = passing.stream;
    const std::uint64_t end = passing.shape.rows();
    const bool is_first = passing.passes_entered++ == 0;
    const bool is_last = passing.passes_entered == passing.shape.active_cycles();
    for (std::size_t array = 0; array < arrays_.size(); ++array, ++row) {
        std::fill(elements_.begin(), elements_.end(), typename Cells::Element{});
        const bool has_values = passing.rows.values != nullptr && row < end;
        const auto cells =
            read_pass(stream, has_values ? passing.rows.values + row * passing.rows.stride : nullptr, pass,
                      std::span(elements_).first(passing.tile_rows));
        const bool has_sums = passing.sums != nullptr && row < end;
        arrays_[array].enter(elements_,
                             {.valid = true,
                              .switches = is_first && !stream.keep_weights,
                              .add = stream.accumulate || pass > 0,
                              .last = is_last,
                              .cells = cells,
                              .columns = passing.tile_columns,
                              .sums = has_sums ? passing.sums + row * passing.sums_stride : nullptr});
    }
}

template <class Cells>
bool PeEngine<Cells>::is_moving() const {
    return std::ranges::any_of(arrays_, &PeArray<Cells>::moving);
}

template <class Cells>
bool PeEngine<Cells>::can_shift(Cycle now) const {
    return head_ && head_->whole_at <= now && !shadow_full_ && now >= shadow_free_at_ &&
           words_entered_ < shift_cycles_;
}

template <class Cells>
void PeEngine<Cells>::enter_word() {
    // The weights of the last array row enter first.
    const std::size_t row = arrays_.front().shape().rows - 1 - words_entered_;
    std::fill(words_.begin(), words_.end(), Cells::no_weight);
    if (head_->values != nullptr && row < head_->rows) {
        read_weights(head_->values + row * head_->row_bytes, head_->type,
                     std::span(words_).first(head_->columns));
    }
    for (PeArray<Cells>& array : arrays_) array.shift_in(words_);
    if (++words_entered_ == shift_cycles_) shifted_.notify(sc_core::SC_ZERO_TIME);
}

template <class Cells>
void PeEngine<Cells>::report_complete() {
    while (!passing_.empty() && passing_.front().passed_at && passing_.front().summed_at) {
        const Passing& passing = passing_.front();
        const Cycle complete = std::max(*passing.passed_at, *passing.summed_at);
        if (complete != passing.promised) {
            throw std::logic_error("the sums of instruction " + std::to_string(passing.stream.number) +
                                   " were complete in cycle " + std::to_string(complete) + ", not in cycle " +
                                   std::to_string(passing.promised) + " as docs/timing.md has it");
        }
        report({static_cast<std::size_t>(isa::QueueId::Matrix), passing.stream.number, passing.stream.tag,
                passing.stream.issued, passing.begun, *passing.passed_at, complete});
        passing_.pop_front();
    }
}

template <class Cells>
Cycle PeEngine<Cells>::next_cycle(Cycle now) {
    if (at_input_ || is_moving() || can_shift(now + 1)) return now + 1;
    resting_ = idle_reason(now + 1);
    if (head_ && head_->whole_at > now) {
        clock_.wait(clock_.delay_until(head_->whole_at), changed_);
    } else {
        clock_.wait(changed_);
    }
    return clock_.now();
}

template class PeEngine<IntegerCells>;
template class PeEngine<FloatCells>;

}  // namespace systole::hw
