#pragma once

#include <cstddef>
#include <cstdint>

#include "compiler/operators/words_builder.h"

/// The order of numbers in words, for operators that find the largest ones.
namespace systole::operators {

/// Whole numbers in two's complement in the order of the elements of a value of float32 or int32, or in the
/// opposite one. Zeros of both signs are equal, and NaN is above all other numbers of float32. No number of
/// float32 becomes the least or the largest one of int32.
ir::ValueId ordered_words(WordsBuilder& builder, ir::ValueId input, bool ascending);

/// The same for a search that goes along the lines of an axis, and keeps its element unless a later one is
/// beyond it: no element is beyond NaN in the first place, and NaN is beyond none.
ir::ValueId ordered_behind_nan(WordsBuilder& builder, ir::ValueId input, bool ascending, std::size_t axis);

/// For each line along an axis, the number of its largest element: the first or the last one of equal ones.
/// `ordered` are whole numbers in two's complement; the axis gets an extent of 1.
ir::ValueId largest_in_lines(WordsBuilder& builder, ir::ValueId ordered, std::size_t axis, bool last);

/// The numbers of the first `count` elements of each line, the largest one first, of equal ones the one with
/// the lower number. Throws ModelError with the node if there is too much to compare.
ir::ValueId first_in_lines(const ir::Node& node, WordsBuilder& builder, ir::ValueId ordered, std::size_t axis,
                           std::size_t count);

}  // namespace systole::operators
