#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/graph.h"

/// Products of many matrices, each with weights of its own.
namespace systole::tensor_core {

/// Matrices of which each is a product of some rows of a source and some weights. Numbers are those of an
/// image. None: all rows of an image are multiplied with all weights.
struct ProductMatrices {
    std::vector<std::uint64_t> sources = {};  ///< by matrix of the result: its first row in the source
    std::vector<std::uint64_t> weights = {};  ///< by matrix of the result: the number of its weights
    std::uint64_t rows = 1;                   ///< of each matrix of the result

    std::uint64_t count() const { return sources.empty() ? 1 : sources.size(); }
    bool operator==(const ProductMatrices&) const = default;
};

/// The matrices of a matrix_product whose first input is not transposed. Those that follow each other and
/// have the same weights are one with more rows.
ProductMatrices product_matrices(const ir::NodeView& node);

}  // namespace systole::tensor_core
