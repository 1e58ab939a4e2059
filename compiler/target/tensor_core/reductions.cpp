// Many numbers become one: along axes, and in windows.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/operators/leading_axes.h"
#include "compiler/operators/words.h"
#include "compiler/target/tensor_core/network_builder.h"

namespace systole::tensor_core {
namespace {

using ir::NodeView;
using ir::Value;
using ir::ValueId;

}  // namespace

void NetworkBuilder::add_windows(const NodeView& view) {
    const ir::Node& node = view.node();
    Step step{.kind = StepKind::Windows};
    step.reduction = operators::word_reduction_of(node);
    step.window = ir::window_of(node);
    const ir::Shape& shape = view.input().shape;
    if (ir::is_feature_map(shape)) {
        step.image = view.input_map();
        step.output = view.output_map();
    } else {
        step.image = operators::last_image(shape);
        step.output = operators::last_image(view.output().shape);
        step.inner_images = operators::leading_axes(shape, operators::image_extents).elements();
    }
    step.source = tensor_of(node.inputs[0]);
    step.result = new_tensor(node.output());
    round_reduced(view, step);
    tensors_.emplace(node.output(), step.result);
    finish_value(node.output(), std::move(step));
}

void NetworkBuilder::round_reduced(const NodeView& view, Step& step) {
    if (view.output().type != DataType::Bfloat16) return;
    const bool is_extreme = step.reduction == Reduction::Maximum || step.reduction == Reduction::Minimum;
    if (is_extreme && view.input().type == DataType::Bfloat16) return;
    step.chains.push_back(round_to_bfloat16(tensor(step.result).fills_lanes));
}

void NetworkBuilder::add_reduction(const NodeView& view) {
    const ir::Node& node = view.node();
    if (node.integer("sum_tile") != machine_.vector_unit.lanes) {
        throw ModelError(fmt::format("it reduces blocks of {}; the machine has {} lanes",
                                     node.integer("sum_tile"), machine_.vector_unit.lanes));
    }
    const ir::Shape& shape = view.input().shape;
    std::vector<bool> is_reduced(shape.rank(), node.integers("axes").empty());
    for (const std::int64_t axis : node.integers("axes"))
        is_reduced.at(static_cast<std::size_t>(axis)) = true;
    // Axes of extent 1 don't matter.
    std::vector<std::size_t> kept;
    std::vector<std::size_t> reduced;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        if (shape[axis] > 1) (is_reduced[axis] ? reduced : kept).push_back(axis);
    }
    std::uint64_t numbers = 1;
    for (const std::size_t axis : reduced) numbers *= shape[axis];
    const std::uint64_t results = shape.elements() / numbers;
    const bool has_lanes = !reduced.empty() && reduced.back() + 1 == shape.rank();
    // The reduced axes follow each other, at the end or before the last axis.
    const std::size_t last = shape.rank() - 1;
    const auto are_last_of = [&](std::size_t end) {
        return std::ranges::none_of(
            kept, [&](std::size_t axis) { return axis < end && !reduced.empty() && axis > reduced.front(); });
    };
    Step step{.kind = StepKind::ReduceRows};
    step.reduction = operators::word_reduction_of(node);
    const bool is_shared = !view.output().has_batch();
    MatrixShape made{results, 1};
    if (!has_lanes && shape.rank() > 0 && are_last_of(last)) {
        step.source = tensor_of(node.inputs[0]);
        step.reduced_rows = numbers;
        made = {results / shape[last], shape[last]};
    } else {
        step.kind = StepKind::ReduceLanes;
        const bool is_plain = reduced.size() == 1 && has_lanes;
        step.source = is_plain ? tensor_of(node.inputs[0])
                               : with_last(node.inputs[0], kept, reduced, {results, numbers});
    }
    step.result = new_tensor(node.name, made, is_shared);
    tensor(step.result).fills_lanes = step.kind == StepKind::ReduceLanes;
    round_reduced(view, step);
    const MatrixShape wanted = matrix_of(view.output().shape);
    if (wanted == made) {
        tensors_.emplace(node.output(), step.result);
        return finish_value(node.output(), std::move(step));
    }
    const TensorId reduced_tensor = step.result;
    add_step(std::move(step));
    const TensorId result = new_tensor(node.output());
    add_reshape(reduced_tensor, result);
    tensors_.emplace(node.output(), result);
}

TensorId NetworkBuilder::with_last(ValueId id, const std::vector<std::size_t>& kept,
                                   const std::vector<std::size_t>& reduced, const MatrixShape& shape) {
    const Value& value = graph_.values[id];
    TensorId last = tensor_of(id);
    // Axes of extent 1 come before the others.
    std::vector<std::size_t> order;
    for (std::size_t axis = 0; axis < value.shape.rank(); ++axis) {
        if (value.shape[axis] == 1) order.push_back(axis);
    }
    order.insert(order.end(), kept.begin(), kept.end());
    order.insert(order.end(), reduced.begin(), reduced.end());
    if (!std::ranges::is_sorted(order)) {
        const std::uint64_t columns = value.shape[order.back()];
        const TensorId permuted =
            new_tensor(value.name, {value.shape.elements() / columns, columns}, !value.has_batch());
        add_movement({last}, permuted_axes(value.shape, order, lanes()), permuted);
        last = permuted;
    }
    if (MatrixShape{tensor(last).rows, tensor(last).columns} == shape) return last;
    const TensorId made = new_tensor(value.name, shape, !value.has_batch());
    add_reshape(last, made);
    return made;
}

}  // namespace systole::tensor_core
