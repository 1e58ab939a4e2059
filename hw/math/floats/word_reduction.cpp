#include "hw/math/floats/word_reduction.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "hw/math/floats/float_reduction.h"

namespace systole::math {
namespace {

/// Numbers of a block side by side for all columns: number i of a column is in row i.
class BlockOfNumbers {
public:
    BlockOfNumbers(std::size_t numbers, std::size_t columns) : columns_(columns), rows_(numbers * columns) {}

    void read(const WordReduction& input, std::size_t first, std::size_t count) {
        count_ = count;
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint32_t* const from = input.data + (first + i) * input.stride;
            float* const to = row(i);
            if (input.column_stride == 1) {
                std::memcpy(to, from, columns_ * sizeof(float));
                continue;
            }
            for (std::size_t column = 0; column < columns_; ++column) {
                to[column] = std::bit_cast<float>(from[column * input.column_stride]);
            }
        }
    }

    /// More than `reduce_block` takes become half as many, until they are few enough.
    void reduce(Reduction reduction, float* out) {
        while (count_ > reduction_block) {
            const std::size_t half = std::bit_ceil(count_) / 2;
            for (std::size_t i = 0; i + half < count_; ++i) combine_rows(reduction, row(i), row(i + half));
            count_ = half;
        }
        reduce_block(reduction,
                     {.data = rows_.data(),
                      .count = count_,
                      .stride = columns_,
                      .columns = columns_,
                      .column_stride = 1},
                     out);
    }

    void combine_rows(Reduction reduction, float* into, const float* other) const {
        for (std::size_t column = 0; column < columns_; ++column) {
            into[column] = combine(reduction, into[column], other[column]);
        }
    }

private:
    float* row(std::size_t number) { return rows_.data() + number * columns_; }

    std::size_t columns_;
    std::size_t count_ = 0;
    std::vector<float> rows_;
};

}  // namespace

void reduce_words(Reduction reduction, const WordReduction& input, bool accumulate, std::uint32_t* out) {
    const std::size_t most = std::min(input.block, input.numbers);
    BlockOfNumbers block(most, input.columns);
    std::vector<float> all(input.columns);
    std::vector<float> one(input.columns);
    bool has_some = accumulate;
    if (accumulate) std::memcpy(all.data(), out, input.columns * sizeof(float));
    for (std::size_t first = 0; first < input.numbers; first += most) {
        block.read(input, first, std::min(most, input.numbers - first));
        block.reduce(reduction, has_some ? one.data() : all.data());
        if (has_some) block.combine_rows(reduction, all.data(), one.data());
        has_some = true;
    }
    std::memcpy(out, all.data(), input.columns * sizeof(float));
}

}  // namespace systole::math
