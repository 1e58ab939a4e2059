#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/word_operation.h"

namespace systole::math {

/// The words of an operand, in rows: element (row, column) is at data[row * row_elements + column]. With
/// row_elements 0, all rows are the same.
struct Words {
    const std::uint32_t* data = nullptr;
    std::size_t row_elements = 0;
};

/// The words that an operation computes: `rows` rows of `columns` words, of which the first ones have these
/// numbers.
struct WordsOut {
    std::uint32_t* data = nullptr;
    std::size_t row_elements = 0;
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::size_t first_row = 0;
    std::size_t first_column = 0;
};

/// Applies an operation to every element; `constant` is that of WordOperation::Constant. There are as many
/// operands as the operation has, at most three; the result may be one of them. Floats must be settled.
/// Throws std::logic_error for another number of operands.
void apply_operation(WordOperation operation, std::span<const Words> operands, std::uint32_t constant,
                     const WordsOut& out);

/// Float32 sums of parts, element by element: the numbers of all parts are settled, and added one part after
/// the other; each sum is rounded once and settled. A part has as many words as the sums, and none of them
/// may be theirs.
void add_settled(std::span<const std::uint32_t* const> parts, std::span<std::uint32_t> sums);

}  // namespace systole::math
