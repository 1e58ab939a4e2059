#include "compiler/operators/dense/row_product.h"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "base/rounding.h"
#include "compiler/ir/graph.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/known_product.h"

namespace systole::operators {
namespace {

using Integers = std::vector<std::int64_t>;

}  // namespace

ir::ValueId reshaped(ir::LayerReader& layer, ir::ValueId value, const Integers& shape) {
    return append_shape(layer, value, shape_from(layer, shape));
}

ProductRows rows_of(const ir::LayerReader& layer, const RowsTimesMatrix& product) {
    const ir::Shape& shape = layer.value(product.rows).shape;
    const ir::Shape& matrix = layer.value(product.matrix).shape;
    if (shape.rank() == 0 || matrix.rank() != 2) {
        layer.fail(fmt::format("it multiplies {} and {}; the second one must be a matrix", to_text(shape),
                               to_text(matrix)));
    }
    ProductRows rows;
    rows.inputs = shape[shape.rank() - 1];
    rows.outputs = matrix[1];
    if (rows.inputs != matrix[0]) {
        layer.fail(
            fmt::format("it multiplies {} and {}; the last extent of the first must be the first of "
                        "the second",
                        to_text(shape), to_text(matrix)));
    }
    // Elsewhere than at the front, the batch is not known from other axes.
    const bool has_batch = layer.batch() > 1 && shape.rank() >= 2 && shape[0] == layer.batch();
    if (has_batch) rows.batch = shape[0];
    for (std::size_t axis = 0; axis + 1 < shape.rank(); ++axis) {
        if (axis > 0 || !has_batch) rows.count *= shape[axis];
        rows.result.push_back(shape[axis]);
    }
    rows.result.push_back(rows.outputs);
    return rows;
}

ir::ValueId append_row_product(ir::LayerReader& layer, const RowsTimesMatrix& product,
                               std::optional<ir::ValueId> bias, const std::vector<ir::ResultType>& types) {
    const ProductRows rows = rows_of(layer, product);
    const bool is_vector = rows.count == 1;
    const std::int64_t inputs = rows.inputs;
    const std::int64_t outputs = rows.outputs;
    const Integers shape = is_vector ? Integers{rows.batch, inputs}
                                     : Integers{rows.batch, static_cast<std::int64_t>(rows.count), inputs};
    ir::ValueId weights = product.matrix;
    if (!is_vector) {
        const ir::Value& matrix = layer.value(weights);
        ir::ResultType type{matrix.type, matrix.quantization};
        if (type.quantization && type.quantization->axis) *type.quantization->axis += 2;
        weights = layer.append_as(type, "reshape", {{"shape", Integers{1, 1, inputs, outputs}}}, {weights});
    }
    std::vector<ir::ValueId> operands{reshaped(layer, product.rows, shape), weights};
    if (bias) operands.push_back(*bias);
    std::vector<ir::NamedAttribute> attributes;
    if (!types.empty()) attributes.emplace_back("rounding", rounding_value(Rounding::HalfToEven));
    const char* const op = is_vector ? "dense" : "convolution";
    const bool is_known = layer.value(product.rows).constant.has_value();
    const ir::ValueId result =
        is_known ? append_known_product(layer, op, std::move(attributes), operands,
                                        types.empty() ? std::nullopt : std::optional(types.front()))
                 : layer.append_node(op, std::move(attributes), std::move(operands), types).front();
    return reshaped(layer, result, rows.result);
}

}  // namespace systole::operators
