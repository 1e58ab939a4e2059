#include "hw/matrix_unit/pe_array.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>

#include "base/wrapped_sum.h"
#include "hw/math/floats/float_values.h"
#include "hw/math/target_clones.h"

namespace systole::hw {

namespace {

constexpr std::int16_t all_ones = -1;

/// Where the mask is all ones, the first weight, otherwise the second.
SYSTOLE_ALWAYS_INLINE std::int16_t selected(std::int16_t mask, std::int16_t ones, std::int16_t zeros) {
    return static_cast<std::int16_t>((ones & mask) | (zeros & ~mask));
}

SYSTOLE_ALWAYS_INLINE float selected(std::int32_t mask, float ones, float zeros) {
    return std::bit_cast<float>((std::bit_cast<std::int32_t>(ones) & mask) |
                                (std::bit_cast<std::int32_t>(zeros) & ~mask));
}

template <class Weight, class Mask>
SYSTOLE_ALWAYS_INLINE bool push_all(Weight* __restrict word, Mask* __restrict valid,
                                    Weight* __restrict shadow, Mask* __restrict fresh, std::size_t columns) {
    Mask any = 0;
    for (std::size_t c = 0; c < columns; ++c) {
        const Mask arrives = valid[c];
        const Weight held = shadow[c];
        shadow[c] = selected(arrives, word[c], held);
        valid[c] = static_cast<Mask>(arrives & fresh[c]);
        fresh[c] = static_cast<Mask>(fresh[c] | arrives);
        word[c] = held;
        any = static_cast<Mask>(any | valid[c]);
    }
    return any != 0;
}

/// Moves the arriving words into a row of cells; the words that they push out arrive at the row below.
SYSTOLE_TARGET_CLONES
bool push_words(std::int16_t* __restrict word, std::int16_t* __restrict valid,
                std::int16_t* __restrict shadow, std::int16_t* __restrict fresh, std::size_t columns) {
    return push_all(word, valid, shadow, fresh, columns);
}

SYSTOLE_TARGET_CLONES
bool push_words(float* __restrict word, std::int32_t* __restrict valid, float* __restrict shadow,
                std::int32_t* __restrict fresh, std::size_t columns) {
    return push_all(word, valid, shadow, fresh, columns);
}

/// Adds each cell's product to the partial sum from above.
SYSTOLE_TARGET_CLONES [[gnu::aligned(64)]] void multiply_accumulate_row(
    const std::int32_t* __restrict above, const std::int16_t* __restrict activations,
    const std::int16_t* __restrict weights, std::int32_t* __restrict sums, std::size_t columns) {
    for (std::size_t c = 0; c < columns; ++c) {
        sums[c] = above[c] + std::int32_t{activations[c]} * std::int32_t{weights[c]};
    }
}

SYSTOLE_TARGET_CLONES
void multiply_accumulate_row(const float* __restrict above, const float* __restrict activations,
                             const float* __restrict weights, float* __restrict sums, std::size_t columns) {
    for (std::size_t c = 0; c < columns; ++c) {
        const float sum = math::settled(std::fma(activations[c], weights[c], above[c]));
        const bool unused = std::bit_cast<std::uint32_t>(weights[c]) == FloatCells::no_weight_bits;
        sums[c] = unused ? above[c] : sum;
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
template <class Value>
void move_right(Value* cells, std::size_t columns, std::size_t stage, Value first) {
    std::memmove(cells + stage, cells, (columns - stage) * sizeof(Value));
    std::fill_n(cells, stage, first);
}

using WeightPart = IntegerCells::WeightPart;

std::int16_t low_mask_of(const IntegerCells::Pass& pass) {
    switch (pass.weight_part) {
        case WeightPart::Whole:
            return all_ones;
        case WeightPart::LowByte:
            return 0xff;
        case WeightPart::HighByte:
            break;
    }
    return 0;
}

std::int16_t high_mask_of(const IntegerCells::Pass& pass) {
    return pass.weight_part == WeightPart::HighByte ? all_ones : std::int16_t{0};
}

/// Writes a sum without the row's sum to the accumulator or adds it, wrapping around in two's complement.
void write_sum(std::int32_t& accumulator, std::int32_t sum, std::int32_t row_sum,
               const PeArray<IntegerCells>::ArrayPass& pass, std::uint32_t sum_bits) {
    const std::uint32_t counted = (static_cast<std::uint32_t>(sum) - static_cast<std::uint32_t>(row_sum))
                                  << pass.cells.shift;
    const std::uint32_t all = pass.add ? static_cast<std::uint32_t>(accumulator) + counted : counted;
    accumulator = wrapped_sum(static_cast<std::int32_t>(all), sum_bits);
}

/// Writes a float32 to the accumulator or adds it, with one more rounding.
void write_sum(std::int32_t& accumulator, float sum, const PeArray<FloatCells>::ArrayPass& pass) {
    const float all = pass.add ? math::settled(std::bit_cast<float>(accumulator) + sum) : sum;
    accumulator = std::bit_cast<std::int32_t>(all);
}

}  // namespace

template <class Cells>
PeArray<Cells>::PeArray(const Shape& shape)
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
      weights_(cells_),
      shadow_(cells_),
      fresh_(cells_),
      sums_(shape.mac_latency * cells_),
      top_(shape.columns),
      leaving_(shape.write + 1, shape.columns),
      falling_((shape.mac_latency - 1) * cells_),
      falling_valid_((shape.mac_latency - 1) * cells_),
      arriving_(shape.columns),
      arriving_valid_(shape.columns),
      low_mask_(Cells::multiplies_bytes ? cells_ : 0, all_ones),
      high_mask_(Cells::multiplies_bytes ? cells_ : 0),
      row_sums_(Cells::multiplies_bytes ? shape.mac_latency * shape.rows : 0),
      leaving_row_sums_(Cells::multiplies_bytes ? shape.write + column_stages_ : 0, 1) {}

template <class Cells>
auto PeArray<Cells>::partial_sums() const -> std::span<const Sum> {
    return std::span(sums_).subspan(plane(now_ + shape_.mac_latency - 1), cells_);
}

template <class Cells>
auto PeArray<Cells>::row_sums() const -> std::span<const Sum> {
    if constexpr (!Cells::multiplies_bytes) return {};
    return std::span(row_sums_).subspan(row_sum_plane(now_ + shape_.mac_latency - 1), shape_.rows);
}

template <class Cells>
void PeArray<Cells>::enter(std::span<const Element> elements, const ArrayPass& pass) {
    assert(elements.size() == shape_.rows && pass.valid);
    const std::size_t slot = rows_.slot(now_);
    std::copy(elements.begin(), elements.end(), rows_.row(slot));
    *passes_.row(passes_.slot(now_)) = pass;
    const Time gone_at = now_ + depth_ + column_stages_;
    if (pass.switches) switches_.push_back(now_);
    if constexpr (Cells::multiplies_bytes) {
        if (pass.cells.weight_part != WeightPart::Whole) parts_gone_at_ = gone_at;
    }
    still_at_ = gone_at + shape_.write + shape_.mac_latency;
}

template <class Cells>
void PeArray<Cells>::shift_in(std::span<const Weight> words) {
    assert(words.size() == shape_.columns);
    const std::size_t slot = words_.slot(now_);
    std::copy(words.begin(), words.end(), words_.row(slot));
    *words_valid_.row(slot) = 1;
    words_gone_at_ = now_ + depth_ + column_stages_;
    still_at_ = std::max(still_at_, words_gone_at_);
}

template <class Cells>
bool PeArray<Cells>::step() {
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

template <class Cells>
void PeArray<Cells>::move_weights() {
    // The first array row takes the words as they are fed; each stage of columns is one cycle later than the
    // one before.
    std::size_t entered = words_.before(words_.slot(now_), shape_.setup);
    for (std::size_t first = 0;;) {
        const Mask valid = *words_valid_.row(entered) != 0 ? Mask{-1} : Mask{0};
        std::copy_n(words_.row(entered) + first, shape_.stage, arriving_.data() + first);
        std::fill_n(arriving_valid_.data() + first, shape_.stage, valid);
        first += shape_.stage;
        if (first == shape_.columns) break;
        entered = words_.before(entered, 1);
    }
    const std::size_t between = shape_.mac_latency - 1;
    for (std::size_t r = 0; r < shape_.rows; ++r) {
        Weight* shadow = shadow_.data() + r * shape_.columns;
        Mask* fresh = fresh_.data() + r * shape_.columns;
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

template <class Cells>
void PeArray<Cells>::switch_weights() {
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

template <class Cells>
void PeArray<Cells>::switch_stage(std::size_t row_stage, std::size_t column_stage) {
    for (std::size_t r = row_stage * shape_.stage; r < (row_stage + 1) * shape_.stage; ++r) {
        const std::size_t first = r * shape_.columns + column_stage * shape_.stage;
        for (std::size_t cell = first; cell < first + shape_.stage; ++cell) {
            weights_[cell] = shadow_[cell];
            fresh_[cell] = 0;
        }
    }
}

template <class Cells>
void PeArray<Cells>::move_activations() {
    const bool parts = now_ < parts_gone_at_;
    std::size_t entered = rows_.before(rows_.slot(now_), shape_.setup);
    std::size_t passed = passes_.before(passes_.slot(now_), shape_.setup);
    std::size_t to_next_stage = shape_.stage;
    for (std::size_t r = 0; r < shape_.rows; ++r) {
        const std::size_t first = r * shape_.columns;
        move_right(activations_.data() + first, shape_.columns, shape_.stage, rows_.row(entered)[r]);
        if constexpr (Cells::multiplies_bytes) {
            if (parts) {
                const typename Cells::Pass& pass = passes_.row(passed)->cells;
                move_right(low_mask_.data() + first, shape_.columns, shape_.stage, low_mask_of(pass));
                move_right(high_mask_.data() + first, shape_.columns, shape_.stage, high_mask_of(pass));
            }
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
template <class Cells>
template <class Work>
void PeArray<Cells>::for_rows_upwards(Work work) const {
    for (std::size_t stage = row_stages_; stage-- > 0;) {
        for (std::size_t r = 0; r < shape_.stage; ++r) work(stage * shape_.stage + r, stage);
    }
}

template <class Cells>
void PeArray<Cells>::multiply_accumulate() {
    Sum* sums = sums_.data() + plane(now_);
    const bool parts = now_ < parts_gone_at_;
    for_rows_upwards([&](std::size_t r, std::size_t) {
        const std::size_t first = r * shape_.columns;
        Sum* row = sums + first;
        const Sum* above = r == 0 ? top_.data() : row - shape_.columns;
        if constexpr (Cells::multiplies_bytes) {
            if (parts) {
                multiply_accumulate_parts(above, activations_.data() + first, weights_.data() + first,
                                          low_mask_.data() + first, high_mask_.data() + first, row,
                                          shape_.columns);
                return;
            }
        }
        multiply_accumulate_row(above, activations_.data() + first, weights_.data() + first, row,
                                shape_.columns);
    });
}

template <class Cells>
void PeArray<Cells>::add_row_sums() {
    if constexpr (Cells::multiplies_bytes) {
        Sum* const sums = row_sums_.data() + row_sum_plane(now_);
        const std::size_t row_slot = rows_.slot(now_);
        const std::size_t pass_slot = passes_.slot(now_);
        for_rows_upwards([&](std::size_t r, std::size_t stage) {
            // The element that cell (r, 0) takes, and its pass.
            const std::size_t earlier = shape_.setup + stage * shape_.mac_latency;
            const Sum element = rows_.row(rows_.before(row_slot, earlier))[r];
            const ArrayPass& pass = *passes_.row(passes_.before(pass_slot, earlier));
            sums[r] = (r == 0 ? 0 : sums[r - 1]) + element * pass.cells.weight_zero_point;
        });
    }
}

template <class Cells>
bool PeArray<Cells>::write_sums() {
    // At the end of this cycle, the sums that the last array row began m - 1 cycles ago leave it.
    const Sum* below = sums_.data() + plane(now_ + 1) + cells_ - shape_.columns;
    const std::size_t leaving = leaving_.slot(now_);
    std::copy_n(below, shape_.columns, leaving_.row(leaving));
    const Sum* written = leaving_.row(leaving_.before(leaving, shape_.write));
    std::size_t row_sum = 0;
    if constexpr (Cells::multiplies_bytes) {
        const std::size_t leaving_row_sum = leaving_row_sums_.slot(now_);
        *leaving_row_sums_.row(leaving_row_sum) = row_sums_[row_sum_plane(now_ + 1) + shape_.rows - 1];
        row_sum = leaving_row_sums_.before(leaving_row_sum, shape_.write);
    }
    // Each stage of columns writes a pass one cycle later than the stage before.
    std::size_t entered = passes_.before(passes_.slot(now_), depth_ + shape_.write - 1);
    for (std::size_t c = 0;;) {
        const ArrayPass& pass = *passes_.row(entered);
        for (const std::size_t end = c + shape_.stage; c < end; ++c) {
            if (!pass.valid || pass.sums == nullptr || c >= pass.columns) continue;
            if constexpr (Cells::multiplies_bytes) {
                write_sum(pass.sums[c], written[c], *leaving_row_sums_.row(row_sum), pass, shape_.sum_bits);
            } else {
                write_sum(pass.sums[c], written[c], pass);
            }
        }
        if (c == shape_.columns) return pass.valid && pass.last;
        entered = passes_.before(entered, 1);
        if constexpr (Cells::multiplies_bytes) {
            row_sum = leaving_row_sums_.before(row_sum, 1);
        }
    }
}

template class PeArray<IntegerCells>;
template class PeArray<FloatCells>;

}  // namespace systole::hw
