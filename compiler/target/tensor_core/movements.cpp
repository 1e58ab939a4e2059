// Elements that go elsewhere, and sums over all cores.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/message_text.h"
#include "compiler/ir/model_error.h"
#include "compiler/target/tensor_core/moves.h"
#include "compiler/target/tensor_core/network_builder.h"

namespace systole::tensor_core {
namespace {

using ir::NodeView;
using ir::Value;
using ir::ValueId;

}  // namespace

void NetworkBuilder::add_all_reduce(const NodeView& view) {
    const ir::Node& node = view.node();
    if (node.integer("parts") != machine_.cores()) {
        throw ModelError(fmt::format("parts is {}; machine {} has {}, and there must be one part for each",
                                     node.integer("parts"), machine_.name,
                                     counted(machine_.cores(), "core")));
    }
    Step step{.kind = StepKind::AllReduce};
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        step.sources.push_back(tensor_of(node.inputs[i]));
        step.results.push_back(new_tensor(node.outputs[i]));
        tensor(step.sources.back()).is_moved = true;
        tensor(step.results.back()).is_moved = true;
        tensors_.emplace(node.outputs[i], step.results.back());
    }
    step.result = step.results.front();
    add_step(std::move(step));
}

void NetworkBuilder::add_gather(const NodeView& view) {
    const ir::Node& node = view.node();
    Step step{.kind = StepKind::GatherRows};
    step.sources = {tensor_of(node.inputs[0]), tensor_of(node.inputs[1])};
    step.result = new_tensor(node.output());
    const Tensor& table = tensor(step.sources[0]);
    const Tensor& indices = tensor(step.sources[1]);
    const Tensor& result = tensor(step.result);
    if (indices.rows != 1 || table.columns != result.columns || indices.columns != result.rows)
        throw std::logic_error("a gather of words whose indices name no rows of a matrix");
    for (const TensorId each : {step.sources[0], step.sources[1], step.result}) tensor(each).is_moved = true;
    tensors_.emplace(node.output(), step.result);
    add_step(std::move(step));
}

bool NetworkBuilder::append_to_cache(const NodeView& view) {
    const ir::Node& node = view.node();
    if (!node.is("concat")) return false;
    const ValueId input = node.inputs.front();
    const auto is_this = [&](const ir::Graph::Cache& cache) {
        return cache.input && graph_.inputs[*cache.input] == input &&
               graph_.outputs[cache.output] == node.output();
    };
    if (std::ranges::none_of(graph_.caches, is_this) || readers_[input].size() != 1 ||
        ir::is_output(graph_, input) || std::ranges::count(graph_.outputs, node.output()) != 1) {
        return false;
    }
    std::optional<Movement> movement = movement_of(view, lanes());
    // Along the columns, each row of the result has elements of both.
    if (!movement || movement->transposition || movement->boxes.size() != node.inputs.size()) return false;
    cached_.emplace(input, std::move(movement->boxes.front()));
    movement->boxes.erase(movement->boxes.begin());
    std::vector<TensorId> tensors;
    for (std::size_t i = 1; i < node.inputs.size(); ++i) tensors.push_back(tensor_of(node.inputs[i]));
    for (RowBox& box : movement->boxes) {
        for (BoxColumns& columns : box.columns) --columns.source;
    }
    const TensorId made = new_tensor(node.output());
    add_movement(tensors, std::move(*movement), made);
    tensors_.emplace(node.output(), made);
    return true;
}

void NetworkBuilder::add_movement(const NodeView& view) {
    const ir::Node& node = view.node();
    if (node.is("reshape") || node.is("identity") ||
        (node.is("expand") && view.input().shape.elements() == view.output().shape.elements())) {
        require_words(view.input());
        if (shape_of(node.inputs[0]) == shape_of(node.output())) {
            tensors_.emplace(node.output(), tensor_of(node.inputs[0]));
            if (const auto found = producers_.find(node.inputs[0]); found != producers_.end() &&
                                                                    readers_[node.inputs[0]].size() == 1 &&
                                                                    !ir::is_output(graph_, node.inputs[0])) {
                producers_.emplace(node.output(), found->second);
            }
            return;
        }
        reshaped_.emplace(node.output(), node.inputs[0]);
        return;
    }
    if (append_to_cache(view)) return;
    const std::vector<std::size_t> sources = moved_inputs(view);
    std::vector<TensorId> tensors;
    if (auto movement = movement_of(view, lanes())) {
        for (const ValueId input : node.inputs) tensors.push_back(tensor_of(input));
        const TensorId made = new_tensor(node.output());
        add_movement(tensors, std::move(*movement), made);
        tensors_.emplace(node.output(), made);
        return;
    }
    for (const ValueId output : node.outputs) {
        const std::uint64_t elements = graph_.values[output].shape.elements();
        if (elements <= most_moved_one_by_one) continue;
        throw ModelError(fmt::format("{} has {} elements, which {} moves one by one; there may be {}",
                                     graph_.values[output].name, elements, node.op->name(),
                                     most_moved_one_by_one));
    }
    for (const std::size_t i : sources) tensors.push_back(tensor_of(node.inputs[i]));
    const std::vector<OriginMap> origins = origins_of(view, sources);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        const TensorId made = new_tensor(node.outputs[i]);
        add_move(tensors, origins[i], made);
        tensors_.emplace(node.outputs[i], made);
    }
}

}  // namespace systole::tensor_core
