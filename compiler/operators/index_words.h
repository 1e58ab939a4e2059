#pragma once

#include <cstddef>
#include <cstdint>

#include "compiler/operators/axis_lines.h"
#include "compiler/operators/indices.h"
#include "compiler/operators/words_builder.h"

/// Computed indices on machines that compute in words. An index outside of its axis ends the run, as on the
/// host: `gather` of words has the machine read a row of a table by index, and it refuses a number that no
/// row has.
namespace systole::operators {

/// What is compared with computed indices, at most: elements of a tensor, times indices.
inline constexpr std::uint64_t most_compared_elements = std::uint64_t{1} << 26U;
/// Throws ModelError with the node if there is too much to compare.
void check_compared(const ir::Node& node, std::uint64_t elements, std::uint64_t indices);

/// Indices of an axis of `count` elements, by the node's `counts_from_end`: those that count from the end are
/// counted from the first element. Others stay as they are, also outside, so that messages have them. Throws
/// ModelError with the node unless they are int32.
ir::ValueId counted_indices(const ir::Node& node, WordsBuilder& builder, ir::ValueId indices,
                            std::size_t count);
/// The same, from 0 to `count` - 1. An index outside ends the run: the indices depend on a read of a table of
/// `count` zeros, by the one of them that is the largest number without a sign. Constants were checked with
/// the graph. Throws ModelError with the node if the table would be too long.
ir::ValueId checked_indices(const ir::Node& node, WordsBuilder& builder, ir::ValueId indices,
                            std::size_t count);
/// The places that tuples of indices name along neighbouring axes of a shape, numbered row-major along these
/// alone: [1][tuple]. The indices have the elements of a tuple along their last axis; all are checked.
ir::ValueId tuple_words(const ir::Node& node, WordsBuilder& builder, ir::ValueId indices,
                        const ir::Shape& shape, const IndexedAxes& axes);

/// Rows of a tensor that is `rows` rows of `columns` elements, by their numbers, [1][count]: the result has
/// `count` rows.
struct RowTable {
    std::size_t rows = 1;
    std::size_t columns = 1;
};
ir::ValueId rows_at(WordsBuilder& builder, ir::ValueId input, const RowTable& table, ir::ValueId numbers);

/// The elements of lines at computed indices, [1][outer][index][inner], whose shape is [1][outer or
/// 1][count][1][inner or 1]; the indices are checked. No unit addresses single elements by data: all elements
/// of a line are compared with each index, and `or` keeps all bits of the one that it names. Throws
/// ModelError with the node if there is too much to compare.
ir::ValueId words_at_indices(const ir::Node& node, WordsBuilder& builder, ir::ValueId input,
                             const AxisLines& lines, ir::ValueId indices);

/// The numbers 0, 1, ... along an axis of a shape of so many axes, whose other ones have an extent of 1.
ir::ValueId numbers_along(WordsBuilder& builder, std::size_t rank, std::size_t axis, std::size_t count);

}  // namespace systole::operators
