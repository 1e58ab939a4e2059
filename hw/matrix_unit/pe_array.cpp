#include "hw/matrix_unit/pe_array.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "base/wrapped_sum.h"
#include "hw/math/target_clones.h"

namespace systole::hw {

namespace {

constexpr std::int16_t all_ones = -1;

/// Moves the arriving words into a row of cells; the words that they push out arrive at the row below.
SYSTOLE_TARGET_CLONES
bool push_words(std::int16_t* __restrict word, std::int16_t* __restrict valid,
                std::int16_t* __restrict shadow, std::int16_t* __restrict fresh, std::size_t columns) {
    std::int16_t any = 0;
    for (std::size_t c = 0; c < columns; ++c) {
        const std::int16_t arrives = valid[c];
        const std::int16_t held = shadow[c];
        shadow[c] = static_cast<std::int16_t>((word[c] & arrives) | (held & ~arrives));
        valid[c] = static_cast<std::int16_t>(arrives & fresh[c]);
        fresh[c] = static_cast<std::int16_t>(fresh[c] | arrives);
        word[c] = held;
        any = static_cast<std::int16_t>(any | valid[c]);
    }
    return any != 0;
}

/// Adds each cell's product to the partial sum from above.
SYSTOLE_TARGET_CLONES [[gnu::aligned(64)]] void multiply_accumulate_row(
    const std::int32_t* __restrict above, const std::int16_t* __restrict activations,
    const std::int16_t* __restrict weights, std::int32_t* __restrict sums, std::size_t columns) {
    for (std::size_t c = 0; c < columns; ++c) {
        sums[c] = above[c] + std::int32_t{activations[c]} * std::int32_t{weights[c]};
    }
}

/// The same for passes that multiply with a part of the weight.
SYSTOLE_TARGET_CLONES
void multiply_accumulate_parts(const std::int32_t* __restrict above,
                               const std::int16_t* __restrict activations,
                               const std::int16_t* __restrict weights,
                               const std::int16_t* __restrict low_mask,
                               const std::int16_t* __restrict high_mask, std::int32_t* __restrict sums,
                               std::size_t columns) {
    for (std::size_t c = 0; c < columns; ++c) {
        const int part = (weights[c] & low_mask[c]) | ((weights[c] >> 8) & high_mask[c]);
        sums[c] = above[c] + std::int32_t{activations[c]} * static_cast<std::int16_t>(part);
    }
}

/// Moves the values of a row's cells one stage to the right; `first` enters at the left.
void move_right(std::int16_t* cells, std::size_t columns, std::size_t stage, std::int16_t first) {
    std::memmove(cells + stage, cells, (columns - stage) * sizeof(std::int16_t));
    std::fill_n(cells, stage, first);
}

std::int16_t low_mask_of(const PeArray::ArrayPass& pass) {
    switch (pass.weight_part) {
        case PeArray::WeightPart::Whole:
            return all_ones;
        case PeArray::WeightPart::LowByte:
            return 0xff;
        case PeArray::WeightPart::HighByte:
            break;
    }
    return 0;
}

std::int16_t high_mask_of(const PeArray::ArrayPass& pass) {
    return pass.weight_part == PeArray::WeightPart::HighByte ? all_ones : std::int16_t{0};
}

/// Writes a sum without the row's sum to the accumulator or adds it, wrapping around in two's complement.
void write_sum(std::int32_t& accumulator, std::int32_t sum, std::int32_t row_sum,
               const PeArray::ArrayPass& pass, std::uint32_t sum_bits) {
    const std::uint32_t counted = (static_cast<std::uint32_t>(sum) - static_cast<std::uint32_t>(row_sum))
                                  << pass.shift;
    const std::uint32_t all = pass.add ? static_cast<std::uint32_t>(accumulator) + counted : counted;
    accumulator = wrapped_sum(static_cast<std::int32_t>(all), sum_bits);
}

}  // namespace

PeArray::PeArray(const Shape& shape)
    : shape_(shape),
      cells_(shape.rows * shape.columns),
      row_stages_(shape.rows / shape.stage),
      column_stages_(shape.columns / shape.stage),
      depth_(shape.setup + row_stages_ * shape.mac_latency),
      rows_(depth_ - shape.mac_latency + 1, shape.rows),
      passes_(depth_ + column_stages_ + shape.write, 1),
      words_(shape.setup + column_stages_, shape.columns),
      words_valid_(shape.setup + column_stages_, 1),
      activations_(cells_),
      low_mask_(cells_, all_ones),
      high_mask_(cells_),
      weights_(cells_),
      shadow_(cells_),
      fresh_(cells_),
      sums_(shape.mac_latency * cells_),
      top_(shape.columns),
      falling_((shape.mac_latency - 1) * cells_),
      falling_valid_((shape.mac_latency - 1) * cells_),
      arriving_(shape.columns),
      arriving_valid_(shape.columns),
      row_sums_(shape.mac_latency * shape.rows),
      leaving_(shape.write + 1, shape.columns),
      leaving_row_sums_(shape.write + column_stages_, 1) {}

std::span<const std::int32_t> PeArray::partial_sums() const {
    return std::span(sums_).subspan(plane(now_ + shape_.mac_latency - 1), cells_);
}

std::span<const std::int32_t> PeArray::row_sums() const {
    return std::span(row_sums_).subspan(row_sum_plane(now_ + shape_.mac_latency - 1), shape_.rows);
}

void PeArray::enter(std::span<const std::int16_t> elements, const ArrayPass& pass) {
    assert(elements.size() == shape_.rows && pass.valid);
    const std::size_t slot = rows_.slot(now_);
    std::copy(elements.begin(), elements.end(), rows_.row(slot));
    *passes_.row(passes_.slot(now_)) = pass;
    const Time gone_at = now_ + depth_ + column_stages_;
    if (pass.switches) switches_.push_back(now_);
    if (pass.weight_part != WeightPart::Whole) parts_gone_at_ = gone_at;
    still_at_ = gone_at + shape_.write + shape_.mac_latency;
}

void PeArray::shift_in(std::span<const std::int16_t> words) {
    assert(words.size() == shape_.columns);
    const std::size_t slot = words_.slot(now_);
    std::copy(words.begin(), words.end(), words_.row(slot));
    *words_valid_.row(slot) = 1;
    words_gone_at_ = now_ + depth_ + column_stages_;
    still_at_ = std::max(still_at_, words_gone_at_);
}

bool PeArray::step() {
    if (shape_.weight_switch == 0) switch_weights();
    if (now_ < words_gone_at_) move_weights();
    if (shape_.weight_switch != 0) switch_weights();
    move_activations();
    multiply_accumulate();
    add_row_sums();
    const bool complete = write_sums();
    ++now_;
    // Nothing enters in the next cycle unless enter() or shift_in() is called.
    rows_.clear(rows_.slot(now_));
    passes_.clear(passes_.slot(now_));
    words_valid_.clear(words_valid_.slot(now_));
    return complete;
}

void PeArray::move_weights() {
    // The first array row takes the words as they are fed; each stage of columns is one cycle later than the
    // one before.
    std::size_t entered = words_.before(words_.slot(now_), shape_.setup);
    for (std::size_t first = 0;;) {
        const std::int16_t valid = *words_valid_.row(entered) != 0 ? all_ones : std::int16_t{0};
        std::copy_n(words_.row(entered) + first, shape_.stage, arriving_.data() + first);
        std::fill_n(arriving_valid_.data() + first, shape_.stage, valid);
        first += shape_.stage;
        if (first == shape_.columns) break;
        entered = words_.before(entered, 1);
    }
    const std::size_t between = shape_.mac_latency - 1;
    for (std::size_t r = 0; r < shape_.rows; ++r) {
        std::int16_t* shadow = shadow_.data() + r * shape_.columns;
        std::int16_t* fresh = fresh_.data() + r * shape_.columns;
        const bool pushed =
            push_words(arriving_.data(), arriving_valid_.data(), shadow, fresh, shape_.columns);
        if (between == 0) {
            if (!pushed) break;
            continue;
        }
        if (!ends_stage(r)) continue;
        // The words that this row pushes out now arrive at the next stage m - 1 cycles later.
        const std::size_t place = now_ % between * cells_ + r * shape_.columns;
        std::swap_ranges(arriving_.begin(), arriving_.end(), falling_.data() + place);
        std::swap_ranges(arriving_valid_.begin(), arriving_valid_.end(), falling_valid_.data() + place);
    }
}

void PeArray::switch_weights() {
    if (switches_.empty()) return;
    const auto beyond = [&](Time entry) { return now_ - entry >= depth_ + column_stages_; };
    std::erase_if(switches_, beyond);
    for (const Time entry : switches_) {
        for (std::size_t stage = 0; stage < row_stages_; ++stage) {
            const Time first_there = entry + shape_.setup + stage * shape_.mac_latency;
            if (now_ < first_there) break;
            const std::size_t column_stage = now_ - first_there;
            if (column_stage < column_stages_) switch_stage(stage, column_stage);
        }
    }
}

void PeArray::switch_stage(std::size_t row_stage, std::size_t column_stage) {
    for (std::size_t r = row_stage * shape_.stage; r < (row_stage + 1) * shape_.stage; ++r) {
        const std::size_t first = r * shape_.columns + column_stage * shape_.stage;
        for (std::size_t cell = first; cell < first + shape_.stage; ++cell) {
            weights_[cell] = shadow_[cell];
            fresh_[cell] = 0;
        }
    }
}

void PeArray::move_activations() {
    const bool parts = now_ < parts_gone_at_;
    std::size_t entered = rows_.before(rows_.slot(now_), shape_.setup);
    std::size_t passed = passes_.before(passes_.slot(now_), shape_.setup);
    std::size_t to_next_stage = shape_.stage;
    for (std::size_t r = 0; r < shape_.rows; ++r) {
        const std::size_t first = r * shape_.columns;
        move_right(activations_.data() + first, shape_.columns, shape_.stage, rows_.row(entered)[r]);
        if (parts) {
            const ArrayPass& pass = *passes_.row(passed);
            move_right(low_mask_.data() + first, shape_.columns, shape_.stage, low_mask_of(pass));
            move_right(high_mask_.data() + first, shape_.columns, shape_.stage, high_mask_of(pass));
        }
        if (--to_next_stage > 0 || r + 1 == shape_.rows) continue;
        to_next_stage = shape_.stage;
        entered = rows_.before(entered, shape_.mac_latency);
        passed = passes_.before(passed, shape_.mac_latency);
    }
}

/// The plane of sums still holds those of m cycles ago, which a stage takes from the stage above. So stages
/// follow each other from the bottom up, each before the one above is overwritten, and the rows within a
/// stage from the top down, as their sums move on in the same cycle.
template <class Work>
void PeArray::for_rows_upwards(Work work) const {
    for (std::size_t stage = row_stages_; stage-- > 0;) {
        for (std::size_t r = 0; r < shape_.stage; ++r) work(stage * shape_.stage + r, stage);
    }
}

void PeArray::multiply_accumulate() {
    std::int32_t* sums = sums_.data() + plane(now_);
    const bool parts = now_ < parts_gone_at_;
    for_rows_upwards([&](std::size_t r, std::size_t) {
        const std::size_t first = r * shape_.columns;
        std::int32_t* row = sums + first;
        const std::int32_t* above = r == 0 ? top_.data() : row - shape_.columns;
        if (parts) {
            multiply_accumulate_parts(above, activations_.data() + first, weights_.data() + first,
                                      low_mask_.data() + first, high_mask_.data() + first, row,
                                      shape_.columns);
        } else {
            multiply_accumulate_row(above, activations_.data() + first, weights_.data() + first, row,
                                    shape_.columns);
        }
    });
}

void PeArray::add_row_sums() {
    std::int32_t* const sums = row_sums_.data() + row_sum_plane(now_);
    const std::size_t row_slot = rows_.slot(now_);
    const std::size_t pass_slot = passes_.slot(now_);
    for_rows_upwards([&](std::size_t r, std::size_t stage) {
        // The element that cell (r, 0) takes, and its pass.
        const std::size_t earlier = shape_.setup + stage * shape_.mac_latency;
        const std::int32_t element = rows_.row(rows_.before(row_slot, earlier))[r];
        const ArrayPass& pass = *passes_.row(passes_.before(pass_slot, earlier));
        sums[r] = (r == 0 ? 0 : sums[r - 1]) + element * pass.weight_zero_point;
    });
}

bool PeArray::write_sums() {
    // At the end of this cycle, the sums that the last array row began m - 1 cycles ago leave it.
    const std::int32_t* below = sums_.data() + plane(now_ + 1) + cells_ - shape_.columns;
    const std::size_t leaving = leaving_.slot(now_);
    std::copy_n(below, shape_.columns, leaving_.row(leaving));
    const std::int32_t* written = leaving_.row(leaving_.before(leaving, shape_.write));
    const std::size_t leaving_row_sum = leaving_row_sums_.slot(now_);
    *leaving_row_sums_.row(leaving_row_sum) = row_sums_[row_sum_plane(now_ + 1) + shape_.rows - 1];
    std::size_t row_sum = leaving_row_sums_.before(leaving_row_sum, shape_.write);
    // Each stage of columns writes a pass one cycle later than the stage before.
    std::size_t entered = passes_.before(passes_.slot(now_), depth_ + shape_.write - 1);
    for (std::size_t c = 0;;) {
        const ArrayPass& pass = *passes_.row(entered);
        for (const std::size_t end = c + shape_.stage; c < end; ++c) {
            if (!pass.valid || pass.sums == nullptr || c >= pass.columns) continue;
            write_sum(pass.sums[c], written[c], *leaving_row_sums_.row(row_sum), pass, shape_.sum_bits);
        }
        if (c == shape_.columns) return pass.valid && pass.last;
        entered = passes_.before(entered, 1);
        row_sum = leaving_row_sums_.before(row_sum, 1);
    }
}

}  // namespace systole::hw
