// The matrix products of ONNX. With constant weights, one row is a `dense`, and several are a 1x1
// `convolution`; without, a product is a `matrix_product`.
#include "compiler/operators/dense/onnx.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/rounding.h"
#include "compiler/ir/graph.h"
#include "compiler/operators/dense/row_product.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/matrix_product/matrix_product.h"
#include "compiler/operators/onnx_images.h"
#include "compiler/operators/onnx_quantization.h"

namespace systole::operators {
namespace {

using Integers = std::vector<std::int64_t>;

/// The inputs of a product: an activation, and a constant that is its matrix.
struct Sides {
    std::size_t activation = 0;
    std::size_t matrix = 0;
    /// The constant is the first factor: the product is the transposed one of the transposed factors.
    bool is_swapped = false;
};

Sides sides_of(const ir::LayerReader& layer, std::size_t first, std::size_t second) {
    for (const std::size_t index : {first, second}) {
        if (!layer.input_if_any(index)) {
            layer.fail(fmt::format("its input {} is absent or has no elements; it must be given", index));
        }
    }
    if (!layer.value(layer.inputs()[first]).constant) return {first, second, false};
    if (layer.value(layer.inputs()[second]).constant) {
        layer.fail(
            fmt::format("its inputs {} and {} are constants; one must be computed from the network's inputs",
                        first, second));
    }
    return {second, first, true};
}

/// The constant matrix of an input; [inputs] counts as [inputs, 1].
ir::ValueId matrix_input(ir::LayerReader& layer, std::size_t index) {
    const ir::ValueId input = constant_input(layer, index, "weights");
    const ir::Shape shape = layer.value(input).shape;
    if (shape.rank() == 2) return input;
    // Products of several matrices count as one if all but the last two extents are 1.
    const std::size_t rank = shape.rank();
    const std::uint32_t rows = rank == 1 ? shape[0] : rank == 0 ? 1 : shape[rank - 2];
    const std::uint32_t columns = rank < 2 ? 1 : shape[rank - 1];
    if (std::uint64_t{rows} * columns != shape.elements()) {
        layer.fail(fmt::format("its weights are {}; they must be one matrix", to_text(shape)));
    }
    return layer.append("reshape", {{"shape", Integers{rows, columns}}}, {input});
}

/// The last two axes in the other order; of a vector, nothing.
ir::ValueId transposed(ir::LayerReader& layer, ir::ValueId value) {
    const std::size_t rank = layer.value(value).shape.rank();
    if (rank < 2) return value;
    Integers permutation(rank);
    std::iota(permutation.begin(), permutation.end(), std::int64_t{0});
    std::swap(permutation[rank - 2], permutation[rank - 1]);
    return append_same(layer, "transpose", {{"permutation", std::move(permutation)}}, {value});
}

/// The factors of a product, as rows and matrix. `matrix` is the constant of matrix_input, with its scales.
RowsTimesMatrix factors_of(ir::LayerReader& layer, const Sides& sides, ir::ValueId activation,
                           ir::ValueId matrix) {
    if (!sides.is_swapped) return {activation, matrix};
    // A vector as first factor is a row, of which matrix_input has made a column.
    const bool is_vector = layer.value(layer.inputs()[sides.matrix]).shape.rank() < 2;
    return {transposed(layer, activation), is_vector ? matrix : permuted_constant(layer, matrix, {1, 0})};
}

/// The product of MatMul's family out of that of its factors: with the axes in their order, without the axis
/// of 1 that stands for a vector, and with the leading axes of 1 that only the constant has.
ir::ValueId whole_product(ir::LayerReader& layer, const Sides& sides, ir::ValueId result) {
    const std::size_t activation_rank = layer.value(layer.inputs()[sides.activation]).shape.rank();
    const std::size_t matrix_rank = layer.value(layer.inputs()[sides.matrix]).shape.rank();
    if (sides.is_swapped && activation_rank >= 2) result = transposed(layer, result);
    const ir::Shape& extents = layer.value(result).shape;
    Integers shape(extents.extents().begin(), extents.extents().end());
    if (matrix_rank < 2) {
        const bool is_row = sides.is_swapped && activation_rank >= 2;
        shape.erase(shape.end() - (is_row ? 2 : 1));
    }
    if (matrix_rank > 2) {
        const std::size_t rank = matrix_rank - (activation_rank < 2 ? 1 : 0);
        if (shape.size() < rank) shape.insert(shape.begin(), rank - shape.size(), 1);
    }
    return reshaped(layer, result, shape);
}

/// Products with several matrices of a constant, each a product of its own.
class Products {
public:
    Products(ir::LayerReader& layer, const Sides& sides) : layer_(layer), sides_(sides) {}

    ir::ValueId append(ir::ValueId rows, ir::ValueId matrices) {
        const ir::Shape from = layer_.value(rows).shape;
        const std::size_t rank = layer_.value(matrices).shape.rank();
        if (from.rank() < 2) layer_.fail(rule());
        Integers shape = extents_of(from);
        if (rank > shape.size()) shape.insert(shape.begin(), rank - shape.size(), 1);
        skipped_ = shape.size() - rank;
        return append(reshaped(layer_, rows, shape), matrices, 0);
    }

private:
    /// Those along an axis of the constant and the axes behind it; there is one matrix along those before it.
    ir::ValueId append(ir::ValueId rows, ir::ValueId matrices, std::size_t axis) {
        const ir::Shape all = layer_.value(matrices).shape;
        if (axis + 2 == all.rank()) return append_one(rows, matrices);
        if (all[axis] == 1) return append(rows, matrices, axis + 1);
        const std::size_t place = skipped_ + axis;
        const std::uint32_t given = layer_.value(rows).shape[place];
        const bool is_batch = place == 0 && layer_.batch() > 1;
        if (is_batch || (given != 1 && given != all[axis])) layer_.fail(rule());
        std::vector<ir::ValueId> results;
        for (std::uint32_t i = 0; i < all[axis]; ++i) {
            const ir::ValueId part = given == 1 ? rows : slice_of(rows, place, i);
            results.push_back(append(part, slice_of(matrices, axis, i), axis + 1));
        }
        return layer_.append("concat", {{"axis", static_cast<std::int64_t>(place)}}, std::move(results));
    }

    ir::ValueId append_one(ir::ValueId rows, ir::ValueId matrices) {
        const ir::Shape shape = layer_.value(matrices).shape;
        const Integers extents{shape[shape.rank() - 2], shape[shape.rank() - 1]};
        const ir::ValueId matrix = append_same(layer_, "reshape", {{"shape", extents}}, {matrices});
        const RowsTimesMatrix product = factors_of(layer_, sides_, rows, matrix);
        const ir::ValueId result = append_row_product(layer_, product);
        return sides_.is_swapped ? transposed(layer_, result) : result;
    }

    /// One index along an axis, which stays.
    ir::ValueId slice_of(ir::ValueId value, std::size_t axis, std::uint32_t index) {
        Integers count = extents_of(layer_.value(value).shape);
        Integers first(count.size(), 0);
        first[axis] = index;
        count[axis] = 1;
        const Integers step(count.size(), 1);
        return append_same(layer_, "strided_slice", {{"first", first}, {"step", step}, {"count", count}},
                           {value});
    }

    std::string rule() const {
        const auto text = [&](std::size_t input) {
            return to_text(layer_.value(layer_.inputs()[input]).shape);
        };
        return fmt::format(
            "it multiplies {} by constant matrices, {}; each must have rows of its own, and they must not be "
            "along the batch",
            text(sides_.activation), text(sides_.matrix));
    }

    ir::LayerReader& layer_;
    const Sides& sides_;
    std::size_t skipped_ = 0;  ///< leading axes that the constant does not have
};

bool is_one_matrix(const ir::Shape& shape) {
    const std::size_t rank = shape.rank();
    return rank <= 2 || std::uint64_t{shape[rank - 2]} * shape[rank - 1] == shape.elements();
}

/// Neither input is a constant, or both are, whose product is computed while the file is read.
bool are_alike(const ir::LayerReader& layer) {
    return layer.value(input_of(layer, 0)).constant.has_value() ==
           layer.value(input_of(layer, 1)).constant.has_value();
}

/// The product of two computed inputs, or of two constants. A vector is a row if it is the first one, else a
/// column, whose axis of 1 the result does not have.
ir::ValueId read_computed_product(ir::LayerReader& layer) {
    std::vector<ir::ValueId> factors;
    for (const std::size_t index : {std::size_t{0}, std::size_t{1}}) {
        const ir::ValueId input = input_of(layer, index);
        Integers shape = extents_of(layer.value(input).shape);
        if (shape.size() == 1) shape.insert(index == 0 ? shape.begin() : shape.end(), 1);
        factors.push_back(reshaped(layer, input, shape));
    }
    const ir::ValueId product = append_matrix_product(layer, factors);
    Integers shape = extents_of(layer.value(product).shape);
    if (shape_of(layer, 1).rank() == 1) shape.pop_back();
    if (shape_of(layer, 0).rank() == 1) shape.erase(shape.end() - (shape_of(layer, 1).rank() == 1 ? 1 : 2));
    return reshaped(layer, product, shape);
}

ir::Results read_matrix_product(ir::LayerReader& layer) {
    if (are_alike(layer)) return read_computed_product(layer);
    const Sides sides = sides_of(layer, 0, 1);
    const ir::ValueId given = layer.inputs()[sides.matrix];
    if (layer.value(given).constant && !is_one_matrix(layer.value(given).shape)) {
        return Products(layer, sides).append(layer.inputs()[sides.activation], given);
    }
    const ir::ValueId matrix = matrix_input(layer, sides.matrix);
    const RowsTimesMatrix product = factors_of(layer, sides, layer.inputs()[sides.activation], matrix);
    return whole_product(layer, sides, append_row_product(layer, product));
}

/// Numbers of a float constant, scaled.
ir::ValueId scaled(ir::LayerReader& layer, ir::ValueId id, const char* role, float factor) {
    if (factor == 1.0F) return id;
    const ir::Value& value = layer.value(id);
    if (value.type != DataType::Float32) {
        layer.fail(fmt::format("it is a {}; it must be float32", name_of(value.type)));
    }
    const std::span<const float> numbers = value.constant->values<float>();
    std::vector<float> products(numbers.begin(), numbers.end());
    for (float& number : products) number *= factor;
    return layer.constant(role, ir::Shape(value.shape), std::move(products));
}

/// The constant C as a bias of one number for each output; nullopt if it is none.
std::optional<ir::ValueId> bias_of(ir::LayerReader& layer, ir::ValueId id, std::uint32_t outputs) {
    const ir::Value& value = layer.value(id);
    if (!value.constant) return std::nullopt;
    const std::uint64_t elements = value.shape.elements();
    const std::size_t rank = value.shape.rank();
    if (elements == outputs && (rank == 0 || value.shape[rank - 1] == outputs)) return id;
    if (elements != 1 || value.type != DataType::Float32) return std::nullopt;
    const float number = value.constant->values<float>().front();
    return layer.constant("bias", {outputs}, std::vector<float>(outputs, number));
}

/// alpha * A * B + beta * C of two computed matrices, or two constant ones.
ir::ValueId read_computed_gemm(ir::LayerReader& layer) {
    const auto times = [&](ir::ValueId value, const char* key) {
        const float factor = layer.number(key, 1.0F);
        if (factor == 1.0F) return value;
        return layer.append("multiply", {}, {value, layer.constant(key, {1}, {factor})});
    };
    const auto flag = [&](const char* key) { return std::int64_t{onnx_flag(layer, key, false) ? 1 : 0}; };
    const ir::ValueId product =
        times(append_matrix_product(layer, {input_of(layer, 0), input_of(layer, 1)},
                                    {{"transposed_a", flag("transA")}, {"transposed_b", flag("transB")}}),
              "alpha");
    const auto addend = layer.input_if_any(2);
    return addend ? layer.append("add", {}, {product, times(*addend, "beta")}) : product;
}

ir::Results read_gemm(ir::LayerReader& layer) {
    if (are_alike(layer)) return read_computed_gemm(layer);
    const Sides sides = sides_of(layer, 0, 1);
    ir::ValueId rows = layer.inputs()[sides.activation];
    ir::ValueId matrix = constant_input(layer, sides.matrix, "weights");
    for (const ir::ValueId operand : {rows, matrix}) {
        if (layer.value(operand).shape.rank() == 2) continue;
        layer.fail(
            fmt::format("it multiplies {}; it must multiply matrices", to_text(layer.value(operand).shape)));
    }
    // Each factor may be transposed in the file, and is once more if the constant is the first one.
    const bool first = onnx_flag(layer, "transA", false) != sides.is_swapped;
    const bool second = onnx_flag(layer, "transB", false) != sides.is_swapped;
    if (sides.is_swapped ? second : first) rows = transposed(layer, rows);
    if (sides.is_swapped ? first : second) matrix = permuted_constant(layer, matrix, {1, 0});
    matrix = scaled(layer, matrix, "weights", layer.number("alpha", 1.0F));
    const RowsTimesMatrix product{rows, matrix};
    const std::uint32_t outputs = rows_of(layer, product).outputs;
    const auto in_order = [&](ir::ValueId result) {
        return sides.is_swapped ? transposed(layer, result) : result;
    };
    auto addend = layer.input_if_any(2);
    if (!addend) return in_order(append_row_product(layer, product));
    const float beta = layer.number("beta", 1.0F);
    if (layer.value(*addend).constant) {
        addend = scaled(layer, *addend, "bias", beta);
    } else if (beta != 1.0F) {
        layer.fail("beta", "it must be 1, as its third input is no constant");
    }
    // The bias of a product has a number for each column of its matrix.
    const bool may_be_bias = !sides.is_swapped || layer.value(*addend).shape.elements() == 1;
    if (may_be_bias) {
        if (const auto bias = bias_of(layer, *addend, outputs)) {
            return in_order(append_row_product(layer, product, bias, {}));
        }
    }
    return layer.append("add", {}, {in_order(append_row_product(layer, product)), *addend});
}

/// The factors of a product of integers: the activation, and the constant with a scale for each of its rows
/// or columns, whichever are the result's.
RowsTimesMatrix quantized_factors(ir::LayerReader& layer, const Sides& sides) {
    const OnnxQuantization of_rows =
        onnx_quantization(layer, sides.activation + 1, sides.activation + 2, std::nullopt);
    const ir::ValueId matrix = matrix_input(layer, sides.matrix);
    // A vector has one scale.
    const bool is_vector = layer.value(layer.inputs()[sides.matrix]).shape.rank() < 2;
    const std::uint32_t axis = sides.is_swapped && !is_vector ? 0 : 1;
    const OnnxQuantization of_weights = onnx_quantization(layer, sides.matrix + 1, sides.matrix + 2, axis);
    return factors_of(layer, sides,
                      layer.as_quantized(layer.inputs()[sides.activation], of_rows.quantization),
                      centered_weights(layer, layer.as_quantized(matrix, of_weights.quantization)));
}

/// QLinearMatMul: a, its scale and zero point, b, its scales and zero points, the result's scale and zero
/// point.
ir::Results read_quantized_product(ir::LayerReader& layer) {
    const Sides sides = sides_of(layer, 0, 3);
    const OnnxQuantization of_result = onnx_quantization(layer, 6, 7, std::nullopt);
    const ir::ValueId result =
        append_row_product(layer, quantized_factors(layer, sides), std::nullopt,
                           {{of_result.type.value_or(DataType::Uint8), of_result.quantization}});
    return whole_product(layer, sides, result);
}

/// onnxruntime's QGemm: a, its scale and zero point, b, its scales and zero points, a bias of int32, and the
/// result's scale and zero point, without which it is float32.
ir::Results read_quantized_gemm(ir::LayerReader& layer) {
    const Sides sides = sides_of(layer, 0, 3);
    if (sides.is_swapped) layer.fail("its input 0 is a constant; only input 3, the weights, may be");
    const bool is_transposed = onnx_flag(layer, "transB", false);
    if (onnx_flag(layer, "transA", false)) layer.fail("transA", "it must be 0");
    if (layer.number("alpha", 1.0F) != 1.0F) layer.fail("alpha", "it must be 1");
    if (!layer.input_if_any(7)) layer.fail("it has no scale of the result; it must have one");
    const OnnxQuantization of_rows = onnx_quantization(layer, 1, 2, std::nullopt);
    const OnnxQuantization of_weights = onnx_quantization(layer, 4, 5, is_transposed ? 0 : 1);
    const OnnxQuantization of_result = onnx_quantization(layer, 7, 8, std::nullopt);
    ir::ValueId matrix = centered_weights(
        layer, layer.as_quantized(constant_input(layer, 3, "weights"), of_weights.quantization));
    if (is_transposed) matrix = permuted_constant(layer, matrix, {1, 0});
    const RowsTimesMatrix product{layer.as_quantized(layer.inputs()[0], of_rows.quantization), matrix};
    std::optional<ir::ValueId> bias;
    if (layer.input_if_any(6)) bias = constant_input(layer, 6, "bias");
    return append_row_product(layer, product, bias,
                              {{of_result.type.value_or(DataType::Uint8), of_result.quantization}});
}

/// MatMulInteger: a, b, and the zero points of both; the result is the sum in int32.
ir::Results read_product_of_integers(ir::LayerReader& layer) {
    const Sides sides = sides_of(layer, 0, 1);
    const ir::ValueId matrix = matrix_input(layer, sides.matrix);
    const RowsTimesMatrix product = factors_of(layer, sides, layer.inputs()[sides.activation], matrix);
    const ProductRows rows = rows_of(layer, product);
    const ir::ValueId image =
        reshaped(layer, product.rows, {rows.batch, static_cast<std::int64_t>(rows.count), rows.inputs});
    const ir::ValueId weights =
        layer.append("reshape", {{"shape", Integers{1, 1, rows.inputs, rows.outputs}}}, {product.matrix});
    const ir::ValueId result =
        layer.append("integer_convolution", {},
                     {image, zero_point_input(layer, sides.activation + 2, layer.value(image).type), weights,
                      zero_point_input(layer, sides.matrix + 2, layer.value(weights).type)});
    return whole_product(layer, sides, reshaped(layer, result, rows.result));
}

}  // namespace

std::vector<ir::LayerKind> onnx_products() {
    return {{ir::Format::Onnx,
             "Gemm",
             {{"alpha", "a factor of the weights"},
              {"beta", "a factor of the bias"},
              {"transA", "whether a `transpose` of the input comes before it"},
              {"transB", "whether the weights are transposed"}},
             read_gemm},
            {ir::Format::Onnx, "MatMul", {}, read_matrix_product},
            {ir::Format::Onnx, "QLinearMatMul", {}, read_quantized_product},
            {ir::Format::Onnx,
             "com.microsoft.QGemm",
             {{"alpha", "only 1"}, {"transA", "only 0"}, {"transB", "whether the weights are transposed"}},
             read_quantized_gemm},
            {ir::Format::Onnx, "MatMulInteger", {}, read_product_of_integers}};
}

}  // namespace systole::operators
