#pragma once

#include <cstddef>
#include <cstdint>

#include "base/word_operation.h"

namespace systole::math {

/// Columns of words, each to be reduced by itself in blocks, by halves (docs/isa.md, "Sums in order").
/// Strides are in words.
struct WordReduction {
    const std::uint32_t* data = nullptr;
    std::size_t numbers = 0;  ///< of a column; at least 1
    std::size_t stride = 0;
    std::size_t columns = 0;
    std::size_t column_stride = 0;
    std::size_t block = 0;  ///< numbers; at least 1
};

/// `out` has a word for each column and is no part of the operands. With `accumulate`, blocks are taken
/// together with what is there. Floats must be settled. Throws std::logic_error for a column or a block
/// without numbers.
void reduce_words(Reduction reduction, const WordReduction& input, bool accumulate, std::uint32_t* out);

/// The same of two words.
std::uint32_t combine(Reduction reduction, std::uint32_t a, std::uint32_t b);

}  // namespace systole::math
