#include "compiler/target/tensor_core/products.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "compiler/ir/model_error.h"
#include "compiler/operators/leading_axes.h"
#include "compiler/target/tensor_core/constant_words.h"
#include "compiler/target/tensor_core/network_builder.h"
#include "hw/math/floats/float_product.h"

namespace systole::tensor_core {
namespace {

using ir::NodeView;
using ir::Value;
using ir::ValueId;

bool is_one_matrix(const ir::Shape& shape) {
    return shape.elements() == std::uint64_t{shape[shape.rank() - 2]} * shape[shape.rank() - 1];
}

}  // namespace

ProductMatrices product_matrices(const ir::NodeView& node) {
    constexpr std::size_t matrix_axes = 2;
    const std::vector<std::size_t> sources = operators::leading_blocks(node, 0, matrix_axes);
    const std::vector<std::size_t> weights = operators::leading_blocks(node, 1, matrix_axes);
    // All runs of matrices that can be one are a multiple of this long.
    std::size_t together = 0;
    for (std::size_t first = 0; first < sources.size();) {
        std::size_t count = 1;
        while (first + count < sources.size() && weights[first + count] == weights[first] &&
               sources[first + count] == sources[first] + count) {
            ++count;
        }
        together = std::gcd(together, count);
        first += count;
    }
    if (together == sources.size()) return {};
    const ir::Shape& result = node.output().shape;
    const std::uint64_t rows = result[result.rank() - 2];
    ProductMatrices matrices{.rows = rows * together};
    for (std::size_t i = 0; i < sources.size(); i += together) {
        matrices.sources.push_back(sources[i] * rows);
        matrices.weights.push_back(weights[i]);
    }
    return matrices;
}

std::vector<ProductPass> NetworkBuilder::passes_of(const ir::Node& node) const {
    const std::int64_t tile = node.integer("sum_tile");
    if (tile != machine_.matrix_unit.rows) {
        throw ModelError(
            fmt::format("its sums are cut every {}; the array has {} rows", tile, machine_.matrix_unit.rows));
    }
    const std::string& name = node.text("precision");
    const auto* const found = std::ranges::find(math::precision_names, name);
    if (found == math::precision_names.end())
        throw ModelError(fmt::format("its precision is {}; the array multiplies bfloat16", name));
    std::vector<ProductPass> passes;
    const auto precision = static_cast<math::Precision>(found - math::precision_names.begin());
    for (const math::PairOfParts& pair : math::passes_of(precision)) {
        passes.push_back({.row_part = static_cast<std::uint8_t>(pair.a),
                          .weight_part = static_cast<std::uint8_t>(pair.b)});
    }
    return passes;
}

TensorId NetworkBuilder::weights_of(ValueId id, const std::vector<ProductPass>& passes) {
    const Value& value = graph_.values[id];
    require_float(value);
    if (!value.constant) {
        const TensorId computed = tensor_of(id);
        tensor(computed).is_moved = true;
        return computed;
    }
    // Beside the tensor that other steps read: this one lies in tiles of the array.
    const auto [found, is_new] = weights_.try_emplace({id, is_packed(passes)}, TensorId{});
    if (is_new) {
        found->second = new_tensor(id);
        tensor(found->second).constant = id;
        tensor(found->second).is_weights = true;
    }
    return found->second;
}

void NetworkBuilder::add_product(const NodeView& view, Step step) {
    step.kind = StepKind::Product;
    step.passes = passes_of(view.node());
    if (view.parameter(1) != nullptr) throw std::logic_error("a product with a bias");
    step.weights = weights_of(view.node().inputs[view.data_inputs()], step.passes);
    step.result = new_tensor(view.node().output());
    tensors_.emplace(view.node().output(), step.result);
    finish_value(view.node().output(), std::move(step));
}

void NetworkBuilder::add_word_product(const NodeView& view) {
    const ir::Node& node = view.node();
    for (const ValueId input : node.inputs) require_float(graph_.values[input]);
    Step step{.kind = StepKind::Product};
    step.passes = passes_of(node);
    step.matrices = product_matrices(view);
    if (node.integer("transposed_a") == 1 && form_.transposes_on_the_way) {
        step.by_depth = transposes_by_depth(view, step);
        step.source_transposed = step.by_depth || transposes_on_the_way(view, step);
    }
    const bool is_moved = node.integer("transposed_a") == 1 && !step.source_transposed;
    step.source = is_moved ? swapped_axes(node.inputs[0]) : tensor_of(node.inputs[0]);
    const ValueId weights = node.inputs[1];
    const ir::Shape& shape = view.input(1).shape;
    const std::size_t last = shape.rank() - 1;
    const bool is_transposed = node.integer("transposed_b") == 1;
    step.depth = shape[is_transposed ? last : last - 1];
    const bool is_one = shape.elements() == std::uint64_t{shape[last - 1]} * shape[last];
    if (view.input(1).constant && is_one) {
        step.weights = weight_tiles_of(weights, is_transposed, step.passes);
    } else if (is_transposed && step.depth > machine_.matrix_unit.rows &&
               machine_.matrix_unit.rows % lanes() != 0) {
        // Rows of the array would begin inside a panel of the transposed weights.
        step.weights = swapped_axes(weights);
    } else {
        step.weights = tensor_of(weights);
        step.weights_transposed = is_transposed;
    }
    tensor(step.weights).is_moved = true;
    step.result = new_tensor(node.output());
    tensors_.emplace(node.output(), step.result);
    finish_value(node.output(), std::move(step));
}

bool NetworkBuilder::has_room_to_transpose(const ir::Shape& shape) const {
    // A block of columns has about three times its rows in vector memory on its way; most of it stays for
    // tiles.
    constexpr std::uint64_t places = 3;
    constexpr std::uint64_t part = 4;
    return places * shape[shape.rank() - 2] <= machine_.vector_memory.rows / part;
}

bool NetworkBuilder::transposes_on_the_way(const NodeView& view, const Step& step) const {
    const ir::Shape& shape = view.input(0).shape;
    return step.matrices.count() == 1 && is_one_matrix(shape) && has_room_to_transpose(shape);
}

bool NetworkBuilder::transposes_by_depth(const NodeView& view, const Step& step) const {
    const ir::Shape& shape = view.input(0).shape;
    return step.matrices.count() == 1 && is_one_matrix(shape) && !has_room_to_transpose(shape) &&
           is_one_matrix(view.input(1).shape) && !view.input(1).constant &&
           view.node().integer("transposed_b") == 0;
}

TensorId NetworkBuilder::swapped_axes(ValueId id) {
    const Value& value = graph_.values[id];
    const TensorId source = tensor_of(id);
    std::vector<std::size_t> axes(value.shape.rank());
    std::iota(axes.begin(), axes.end(), std::size_t{0});
    std::swap(axes.back(), axes[axes.size() - 2]);
    const std::uint64_t columns = value.shape[axes.back()];
    const TensorId made =
        new_tensor(value.name, {value.shape.elements() / columns, columns}, !value.has_batch());
    tensor(made).is_bfloat16 = value.type == DataType::Bfloat16;
    add_movement({source}, permuted_axes(value.shape, axes, lanes()), made);
    return made;
}

TensorId NetworkBuilder::weight_tiles_of(ValueId id, bool is_transposed,
                                         const std::vector<ProductPass>& passes) {
    if (!is_transposed) return weights_of(id, passes);
    const auto [found, is_new] = transposed_weights_.try_emplace({id, is_packed(passes)}, TensorId{});
    if (!is_new) return found->second;
    const Value& value = graph_.values[id];
    const MatrixShape shape = matrix_of(value.shape);
    const std::vector<std::uint32_t> own = words_of(value);
    std::vector<std::uint32_t> words;
    words.reserve(own.size());
    for (std::uint64_t column = 0; !own.empty() && column < shape.columns; ++column) {
        for (std::uint64_t row = 0; row < shape.rows; ++row)
            words.push_back(own[row * shape.columns + column]);
    }
    found->second = new_constant(value.name, {shape.columns, shape.rows}, std::move(words));
    tensor(found->second).is_weights = true;
    return found->second;
}

TensorId NetworkBuilder::elements_of(ValueId id) {
    const auto reshaped = reshaped_.find(id);
    if (reshaped != reshaped_.end() && !tensors_.contains(id)) return elements_of(reshaped->second);
    return tensor_of(id);
}

void NetworkBuilder::add_dense(const NodeView& view) {
    const ir::Node& node = view.node();
    Step step;
    if (view.data_inputs() == 1) {
        step.source = elements_of(node.inputs[0]);
    } else {
        step.source = joined_inputs(view);
    }
    const Tensor& source = tensor(step.source);
    if (source.rows > 1) {
        // A window over all rows of an image.
        const auto rows = static_cast<std::uint32_t>(source.rows);
        step.window = ir::Window{.kernel_width = rows};
        step.image = {.width = rows, .channels = static_cast<std::uint32_t>(source.columns)};
        step.output = {.channels = view.output_map().channels};
    }
    add_product(view, std::move(step));
}

TensorId NetworkBuilder::joined_inputs(const NodeView& view) {
    std::vector<TensorId> sources;
    RowBox joined;
    std::uint64_t elements = 0;
    for (std::size_t i = 0; i < view.data_inputs(); ++i) {
        TensorId source = tensor_of(view.node().inputs[i]);
        if (tensor(source).rows > lanes()) {
            const std::uint64_t all = tensor(source).rows * tensor(source).columns;
            const TensorId row = new_tensor(tensor(source).name, {1, all}, tensor(source).is_shared);
            add_reshape(source, row);
            source = row;
        }
        sources.push_back(source);
        for (std::uint64_t row = 0; row < tensor(source).rows; ++row) {
            joined.columns.push_back({.to = elements,
                                      .count = tensor(source).columns,
                                      .source = static_cast<std::uint32_t>(i),
                                      .row = row});
            elements += tensor(source).columns;
        }
    }
    const TensorId made = new_tensor(view.node().name, {1, elements}, !view.output().has_batch());
    add_movement(sources, {.boxes = {std::move(joined)}}, made);
    return made;
}

}  // namespace systole::tensor_core
