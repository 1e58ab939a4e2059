#pragma once

#include <cstddef>

#include "base/word_operation.h"

namespace systole::math {

/// Numbers are reduced in blocks of so many, each by halves.
inline constexpr std::size_t reduction_block = 128;

/// Columns of numbers, each reduced by itself. Strides are in elements.
struct ReductionInput {
    const float* data = nullptr;
    std::size_t count = 0;  ///< the numbers of a column
    std::size_t stride = 0;
    std::size_t columns = 0;
    std::size_t column_stride = 0;
};

/// One block by halves: with h the least power of two that is not less than half of the numbers, number i
/// takes number i + h, for each i that has one, until one number is left. Every result is settled. `out` has
/// one number for each column, without gaps. `count` is 1 to `reduction_block`; else throws std::logic_error.
void reduce_block(Reduction reduction, const ReductionInput& input, float* out);

/// Any number of them (at least 1): blocks of `reduction_block`, and their results taken together in order.
void reduce(Reduction reduction, const ReductionInput& input, float* out);

/// The same of two numbers: their sum or product, or the larger or smaller as in WordOperation.
float combine(Reduction reduction, float a, float b);

}  // namespace systole::math
