#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/graph.h"

/// Operators that only move elements: which element of the result comes from where.
namespace systole::tensor_core {

/// Where an element comes from.
struct Origin {
    static constexpr std::uint32_t none = 0xFFFFFFFF;

    std::uint32_t source = none;  ///< of the node's sources
    std::uint64_t element = 0;    ///< of an image; of none, the word

    bool operator==(const Origin&) const = default;
};

/// For each element of a result, row-major.
using OriginMap = std::vector<Origin>;

/// Some columns of a row that come from one row of a source, or from none.
struct MovedColumns {
    std::uint64_t to = 0;  ///< column
    std::uint64_t count = 0;
    std::uint32_t source = 0;
    std::uint64_t from = 0;                ///< column; of none, the word
    std::vector<std::uint64_t> rows = {};  ///< of the source, for each row of MovedRows; empty for none
};

/// Rows of a result that are put together in the same way. Numbers are those of an image.
struct MovedRows {
    std::vector<std::uint64_t> rows;
    std::vector<MovedColumns> columns;
};

/// The inputs that have elements to move; the others are parameters.
std::vector<std::size_t> moved_inputs(const ir::NodeView& node);

/// The origins of the elements of each result, by the operator's own reference; `sources` are the inputs with
/// elements to move.
std::vector<OriginMap> origins_of(const ir::NodeView& node, const std::vector<std::size_t>& sources);

/// Whether an operator only moves elements, or puts constants beside them.
bool only_moves(const ir::Node& node);

/// The rows of a matrix of `columns` columns with these origins; sources have so many columns each.
std::vector<MovedRows> rows_of_origins(const OriginMap& origins, std::uint64_t columns,
                                       const std::vector<std::uint64_t>& source_columns);

}  // namespace systole::tensor_core
