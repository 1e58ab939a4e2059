#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/layer_kind.h"

/// Products of rows with a constant matrix, of which layers of files are made.
namespace systole::operators {

/// The value in another shape, with its type and scale; the value itself if it has that shape.
ir::ValueId reshaped(ir::LayerReader& layer, ir::ValueId value, const std::vector<std::int64_t>& shape);

/// A matrix product: rows of inputs, and weights [input][output].
struct RowsTimesMatrix {
    ir::ValueId rows = 0;    ///< [..., inputs]
    ir::ValueId matrix = 0;  ///< a constant
};

/// The rows of each image, as the operators read them: [batch, inputs] for one, else [batch, rows, inputs].
struct ProductRows {
    std::int64_t batch = 1;
    std::uint64_t count = 1;
    std::uint32_t inputs = 0;
    std::uint32_t outputs = 0;
    std::vector<std::int64_t> result;  ///< shape of the product
};
/// Fails if rows and matrix do not fit.
ProductRows rows_of(const ir::LayerReader& layer, const RowsTimesMatrix& product);

/// Appends a `dense` for one row, or else a 1x1 `convolution`. `types` are given if it works on integers:
/// with the rounding half_to_even.
ir::ValueId append_row_product(ir::LayerReader& layer, const RowsTimesMatrix& product,
                               std::optional<ir::ValueId> bias = std::nullopt,
                               const std::vector<ir::ResultType>& types = {});

}  // namespace systole::operators
