#include "hw/matrix_unit/pe_array.h"

#include <algorithm>
#include <cassert>
#include <cstring>

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

/// Moves the values of a row's registers one cell to the right; `first` enters at the left.
void move_right(std::int16_t* registers, std::size_t columns, std::int16_t first) {
    std::memmove(registers + 1, registers, (columns - 1) * sizeof(std::int16_t));
    registers[0] = first;
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
               const PeArray::ArrayPass& pass) {
    const std::uint32_t counted = (static_cast<std::uint32_t>(sum) - static_cast<std::uint32_t>(row_sum))
                                  << pass.shift;
    accumulator =
        static_cast<std::int32_t>(pass.add ? static_cast<std::uint32_t>(accumulator) + counted : counted);
}

}  // namespace

PeArray::PeArray(const Shape& shape)
    : shape_(shape),
      cells_(shape.rows * shape.columns),
      depth_(shape.setup + shape.rows * shape.mac_latency),
      rows_(depth_ - shape.mac_latency + 1, shape.rows),
      passes_(depth_ + shape.columns + shape.write, 1),
      words_(shape.setup + shape.columns, shape.columns),
      words_valid_(shape.setup + shape.columns, 1),
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
      leaving_row_sums_(shape.write + shape.columns, 1) {}

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
    const Time gone_at = now_ + depth_ + shape_.columns;
    if (pass.switches) switches_.push_back(now_);
    if (pass.weight_part != WeightPart::Whole) parts_gone_at_ = gone_at;
    still_at_ = gone_at + shape_.write + shape_.mac_latency;
}

void PeArray::shift_in(std::span<const std::int16_t> words) {
    assert(words.size() == shape_.columns);
    const std::size_t slot = words_.slot(now_);
    std::copy(words.begin(), words.end(), words_.row(slot));
    *words_valid_.row(slot) = 1;
    words_gone_at_ = now_ + depth_ + shape_.columns;
    still_at_ = std::max(still_at_, words_gone_at_);
}

bool PeArray::step() {
    if (now_ < words_gone_at_) move_weights();
    if (!switches_.empty()) switch_weights();
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
    // The first array row takes the words as they are fed; each column is one cycle later than the one
    // before.
    std::size_t entered = words_.before(words_.slot(now_), shape_.setup);
    for (std::size_t c = 0; c < shape_.columns; ++c) {
        arriving_[c] = words_.row(entered)[c];
        arriving_valid_[c] = *words_valid_.row(entered) != 0 ? all_ones : std::int16_t{0};
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
        // The words that this row pushes out now arrive at the next row m - 1 cycles later.
        const std::size_t place = now_ % between * cells_ + r * shape_.columns;
        std::swap_ranges(arriving_.begin(), arriving_.end(), falling_.data() + place);
        std::swap_ranges(arriving_valid_.begin(), arriving_valid_.end(), falling_valid_.data() + place);
    }
}

void PeArray::switch_weights() {
    const auto beyond = [&](Time entry) { return now_ - entry >= depth_ + shape_.columns; };
    std::erase_if(switches_, beyond);
    for (const Time entry : switches_) {
        for (std::size_t r = 0; r < shape_.rows; ++r) {
            const Time first_there = entry + shape_.setup + r * shape_.mac_latency;
            if (now_ < first_there) break;
            const std::size_t column = now_ - first_there;
            if (column >= shape_.columns) continue;
            const std::size_t cell = r * shape_.columns + column;
            weights_[cell] = shadow_[cell];
            fresh_[cell] = 0;
        }
    }
}

void PeArray::move_activations() {
    const bool parts = now_ < parts_gone_at_;
    std::size_t entered = rows_.before(rows_.slot(now_), shape_.setup);
    std::size_t passed = passes_.before(passes_.slot(now_), shape_.setup);
    for (std::size_t r = 0; r < shape_.rows; ++r) {
        const std::size_t first = r * shape_.columns;
        move_right(activations_.data() + first, shape_.columns, rows_.row(entered)[r]);
        if (parts) {
            const ArrayPass& pass = *passes_.row(passed);
            move_right(low_mask_.data() + first, shape_.columns, low_mask_of(pass));
            move_right(high_mask_.data() + first, shape_.columns, high_mask_of(pass));
        }
        if (r + 1 == shape_.rows) break;
        entered = rows_.before(entered, shape_.mac_latency);
        passed = passes_.before(passed, shape_.mac_latency);
    }
}

void PeArray::multiply_accumulate() {
    // The plane still holds the sums of m cycles ago. Rows are computed from the bottom up, so that each
    // reads the row above before it is overwritten.
    std::int32_t* sums = sums_.data() + plane(now_);
    const bool parts = now_ < parts_gone_at_;
    for (std::size_t r = shape_.rows; r-- > 0;) {
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
    }
}

void PeArray::add_row_sums() {
    // Bottom up, as the cells. The element of the bottom row is the first that entered.
    std::int32_t* const sums = row_sums_.data() + row_sum_plane(now_);
    const std::size_t deepest = shape_.setup + (shape_.rows - 1) * shape_.mac_latency;
    std::size_t entered = rows_.before(rows_.slot(now_), deepest);
    std::size_t passed = passes_.before(passes_.slot(now_), deepest);
    for (std::size_t r = shape_.rows; r-- > 0;) {
        const std::int32_t product =
            std::int32_t{rows_.row(entered)[r]} * passes_.row(passed)->weight_zero_point;
        sums[r] = (r == 0 ? 0 : sums[r - 1]) + product;
        if (r == 0) break;
        entered = rows_.after(entered, shape_.mac_latency);
        passed = passes_.after(passed, shape_.mac_latency);
    }
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
    // Each column writes a pass one cycle later than the column before.
    std::size_t entered = passes_.before(passes_.slot(now_), depth_ + shape_.write - 1);
    const ArrayPass* pass = nullptr;
    for (std::size_t c = 0; c < shape_.columns; ++c) {
        pass = passes_.row(entered);
        if (pass->valid && pass->sums != nullptr && c < pass->columns) {
            write_sum(pass->sums[c], written[c], *leaving_row_sums_.row(row_sum), *pass);
        }
        entered = passes_.before(entered, 1);
        row_sum = leaving_row_sums_.before(row_sum, 1);
    }
    return pass->valid && pass->last;
}

}  // namespace systole::hw
