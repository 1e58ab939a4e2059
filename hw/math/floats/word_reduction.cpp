#include "hw/math/floats/word_reduction.h"

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>
#include <vector>

#include "hw/math/floats/word_operations.h"

namespace systole::math {
namespace {

/// Each word of `into` is taken together with that of `other`.
void take(Reduction reduction, std::uint32_t* into, const std::uint32_t* other, std::size_t words) {
    const std::array operands{Words{.data = into}, Words{.data = other}};
    apply_operation(operation_of(reduction), operands, 0, {.data = into, .rows = 1, .columns = words});
}

/// Numbers of a block side by side for some columns: number i of all of them is in row i.
class BlockOfNumbers {
public:
    BlockOfNumbers(std::size_t numbers, std::size_t columns) : rows_(numbers * columns) {}

    /// `count` numbers of `columns` columns.
    void read(const WordReduction& input, std::size_t first, std::size_t count, std::size_t first_column,
              std::size_t columns) {
        count_ = count;
        columns_ = columns;
        std::uint32_t* to = rows_.data();
        const std::uint32_t* from = input.data + first * input.stride + first_column * input.column_stride;
        for (std::size_t i = 0; i < count; ++i, from += input.stride, to += columns) {
            if (input.column_stride == 1) {
                std::copy_n(from, columns, to);
                continue;
            }
            for (std::size_t column = 0; column < columns; ++column) {
                to[column] = from[column * input.column_stride];
            }
        }
    }

    /// A word for each column.
    const std::uint32_t* reduce(Reduction reduction) {
        while (count_ > 1) {
            const std::size_t half = std::bit_ceil(count_) / 2;
            take(reduction, rows_.data(), rows_.data() + half * columns_, (count_ - half) * columns_);
            count_ = half;
        }
        return rows_.data();
    }

private:
    std::size_t count_ = 0;
    std::size_t columns_ = 0;
    std::vector<std::uint32_t> rows_;
};

}  // namespace

void reduce_words(Reduction reduction, const WordReduction& input, bool accumulate, std::uint32_t* out) {
    if (input.numbers == 0 || input.block == 0) throw std::logic_error("a reduction of no numbers");
    constexpr std::size_t words_at_once = 4096;  // stay in the first cache
    constexpr std::size_t least_columns = 16;
    const std::size_t most = std::min(input.block, input.numbers);
    const std::size_t columns_at_once =
        std::min(input.columns, std::max(least_columns, words_at_once / most));
    BlockOfNumbers block(most, columns_at_once);
    for (std::size_t column = 0; column < input.columns; column += columns_at_once) {
        const std::size_t columns = std::min(columns_at_once, input.columns - column);
        bool has_some = accumulate;
        for (std::size_t first = 0; first < input.numbers; first += most) {
            block.read(input, first, std::min(most, input.numbers - first), column, columns);
            const std::uint32_t* const one = block.reduce(reduction);
            if (has_some) {
                take(reduction, out + column, one, columns);
            } else {
                std::copy_n(one, columns, out + column);
            }
            has_some = true;
        }
    }
}

std::uint32_t combine(Reduction reduction, std::uint32_t a, std::uint32_t b) {
    take(reduction, &a, &b, 1);
    return a;
}

}  // namespace systole::math
