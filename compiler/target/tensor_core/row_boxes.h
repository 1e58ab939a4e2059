#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/target/tensor_core/moves.h"

/// Movements of rows and ranges of columns, found from shapes and attributes: they may grow with the columns
/// of the tensors, but not with the rows. Rows and columns are those of the matrix that a tensor is: its last
/// axis has the columns.
namespace systole::tensor_core {

/// Some columns of all rows of a box. They come from rows of a source, or from none and are one word.
struct BoxColumns {
    std::uint64_t to = 0;  ///< column
    std::uint64_t count = 1;
    std::uint32_t source = Origin::none;
    std::uint64_t from = 0;                ///< column; of none, the word
    bool repeats = false;                  ///< column `from` for all of them
    std::uint64_t row = 0;                 ///< of the source, for the first row of the box
    std::vector<std::int64_t> apart = {};  ///< rows of the source, by axis; 0 repeats them

    bool operator==(const BoxColumns&) const = default;
};

/// Rows of a result along some axes, which are put together in the same way. Numbers are those of an image.
struct RowBox {
    std::uint64_t row = 0;
    std::vector<std::uint64_t> extents = {};
    std::vector<std::uint64_t> apart = {};  ///< rows of the result, by axis; above 0
    std::vector<BoxColumns> columns = {};

    bool operator==(const RowBox&) const = default;
};

/// All rows of a matrix, without columns.
inline RowBox all_rows(std::uint64_t rows) {
    return {.extents = {rows}, .apart = {1}};
}

/// Columns that become rows, for each index of the outer axes: element (y, z) is in row y and column z of the
/// source, and in row z and column y of the result.
struct Transposition {
    struct Axis {
        std::uint64_t extent = 1;
        std::uint64_t from = 0;  ///< rows of the source from an index to the next
        std::uint64_t to = 0;    ///< rows of the result

        bool operator==(const Axis&) const = default;
    };
    std::vector<Axis> outer = {};
    std::uint64_t rows = 1;           ///< all y
    std::uint64_t rows_apart = 1;     ///< in the source
    std::uint64_t columns = 1;        ///< all z
    std::uint64_t columns_apart = 1;  ///< rows of the result

    bool operator==(const Transposition&) const = default;
};

/// A movement of elements: boxes that together have all rows of the result once, or a transposition.
struct Movement {
    std::vector<RowBox> boxes = {};
    std::optional<Transposition> transposition = {};  ///< of the only source

    bool operator==(const Movement&) const = default;
};

/// The same elements in order, in rows of another length.
Movement reshaped_rows(std::uint64_t from_columns, std::uint64_t to_columns, std::uint64_t elements,
                       std::uint64_t lanes);
/// Axis i of the result is axis permutation[i].
Movement permuted_axes(const ir::Shape& shape, const std::vector<std::size_t>& permutation,
                       std::uint64_t lanes);
/// Repeated by NumPy's rule.
Movement repeated_axes(const ir::Shape& from, const ir::Shape& to);
/// Of a node whose inputs are all sources. nullopt: it does not move rows and ranges of columns, and its
/// elements are moved one by one.
std::optional<Movement> movement_of(const ir::NodeView& view, std::uint64_t lanes);

}  // namespace systole::tensor_core
