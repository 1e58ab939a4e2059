#pragma once

#include <cstddef>
#include <cstdint>

#include "base/word_operation.h"

namespace systole::math {

/// Columns of float32 in words, each to be reduced by itself in blocks, by halves (docs/isa.md, "Sums in
/// order"). Strides are in words.
struct WordReduction {
    const std::uint32_t* data = nullptr;
    std::size_t numbers = 0;  ///< of a column; at least 1
    std::size_t stride = 0;
    std::size_t columns = 0;
    std::size_t column_stride = 0;
    std::size_t block = 0;  ///< numbers; at least 1
};

/// `out` has a word for each column. With `accumulate`, blocks are taken together with what is there. The
/// result may be one of the operands' rows.
void reduce_words(Reduction reduction, const WordReduction& input, bool accumulate, std::uint32_t* out);

}  // namespace systole::math
