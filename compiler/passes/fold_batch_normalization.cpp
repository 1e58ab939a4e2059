// Removes batch normalizations. Each becomes part of the weights and bias of the convolution or dense layer
// before it, if these are constants and it is the layer's only reader; otherwise it becomes a 1x1 depthwise
// convolution, whose result is an image, and a reshape to the axes of the value.
#include "compiler/passes/fold_batch_normalization.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/ir/border_values.h"
#include "compiler/ir/window.h"
#include "compiler/operators/batch_normalization/affine.h"
#include "compiler/operators/operator.h"

namespace systole::passes {
namespace {

using operators::Affine;

/// Changes the weights and bias of a node so that its results are scaled and offset.
void scale_results(ir::Graph& graph, ir::Node& node, const Affine& affine) {
    const ir::NodeView view(graph, node);
    const std::size_t channels = affine.scale.size();
    const std::size_t first_constant = view.data_inputs();
    const ir::Value weights = *view.constant(0);
    const ir::Value* const old_bias = view.constant(1);
    const auto bias_extent = static_cast<std::uint32_t>(channels);
    const std::string bias_name = old_bias == nullptr ? node.name + "/bias" : old_bias->name;
    ir::Constant new_weights;
    ir::Constant new_bias;
    if (weights.constant->is_known()) {
        const std::span<const float> values = weights.constant->values<float>();
        std::vector<float> scaled(values.begin(), values.end());
        for (std::size_t first = 0; first < scaled.size(); first += channels) {
            for (std::size_t c = 0; c < channels; ++c) scaled[first + c] *= affine.scale[c];
        }
        std::vector<float> bias(channels, 0.0F);
        if (old_bias != nullptr) std::ranges::copy(operators::known_floats(*old_bias), bias.begin());
        for (std::size_t c = 0; c < channels; ++c) bias[c] = bias[c] * affine.scale[c] + affine.offset[c];
        new_weights = ir::Constant::of(std::move(scaled));
        new_bias = ir::Constant::of(std::move(bias));
    }
    node.inputs.resize(first_constant);
    node.inputs.push_back(graph.add_constant(weights.name, weights.shape, weights.type, new_weights));
    node.inputs.push_back(graph.add_constant(bias_name, {bias_extent}, DataType::Float32, new_bias));
}

/// Whether a node is a reshape whose last axis is that of its input.
bool keeps_channels(const ir::NodeView& view) {
    if (!view.node().is("reshape")) return false;
    const auto from = view.input().shape.extents();
    const auto to = view.output().shape.extents();
    return !from.empty() && !to.empty() && from.back() == to.back();
}

/// Makes the node a convolution. Returns the reshape of its image to what the node computed, if that is none.
std::optional<ir::Node> become_convolution(ir::Graph& graph, ir::Node& node, Affine affine) {
    const auto channels = static_cast<std::uint32_t>(affine.scale.size());
    const ir::ValueId weights = graph.add_constant(node.name + "/scale", {1, 1, 1, channels},
                                                   DataType::Float32, std::move(affine.scale));
    const ir::ValueId bias =
        graph.add_constant(node.name + "/offset", {channels}, DataType::Float32, std::move(affine.offset));
    node.op = &operators::registry().at("depthwise_convolution");
    node.attributes = ir::complete_attributes(*node.op, {});
    node.inputs = {node.inputs.front(), weights, bias};
    const ir::ValueId result = node.output();
    const ir::Shape shape = graph.values[result].shape;
    ir::Value image = graph.values[result];
    image.shape = node.op->output_shapes(ir::NodeView(graph, node)).front();
    if (image.shape == shape) return std::nullopt;
    image.file_axes.clear();
    image.before.reset();
    node.outputs = {static_cast<ir::ValueId>(graph.values.size())};
    graph.values.push_back(std::move(image));
    const ir::Operator& reshape = operators::registry().at("reshape");
    const std::vector<std::int64_t> extents(shape.extents().begin(), shape.extents().end());
    return ir::Node{.name = node.name,
                    .op = &reshape,
                    .attributes = ir::complete_attributes(reshape, {{"shape", extents}}),
                    .inputs = node.outputs,
                    .outputs = {result}};
}

}  // namespace

ir::Graph fold_batch_normalization(ir::Graph graph) {
    const auto readers = ir::readers(graph);
    const auto producers = ir::producers(graph);
    const ir::BorderValues border(graph);
    std::vector<bool> folded(graph.nodes.size(), false);
    std::vector<ir::NodeId> into(graph.nodes.size());  // by folded node: the one with the weights
    std::map<ir::NodeId, ir::Node> behind;             // the reshapes behind nodes that became convolutions
    // The node whose weights make a value that nobody else reads. Reshapes may lie between, as behind a
    // matrix product of several rows, if the channels stay the last axis.
    const auto weights_before = [&](ir::ValueId value) -> std::optional<ir::NodeId> {
        while (readers[value].size() == 1 && !border.is_output(value) && producers[value]) {
            const ir::NodeId id = *producers[value];
            const ir::Node& producer = graph.nodes[id];
            if (folded[id]) return into[id];
            if (producer.op->has_weights()) {
                if (ir::NodeView(graph, producer).computed_parameter()) break;
                return id;
            }
            if (!keeps_channels({graph, producer})) break;
            value = producer.inputs.front();
        }
        return std::nullopt;
    };
    for (ir::NodeId id = 0; id < graph.nodes.size(); ++id) {
        ir::Node& node = graph.nodes[id];
        if (!node.is("batch_normalization")) continue;
        const Affine affine = operators::affine_of(ir::NodeView(graph, node));
        if (const auto producer = weights_before(node.inputs.front())) {
            scale_results(graph, graph.nodes[*producer], affine);
            folded[id] = true;
            into[id] = *producer;
        } else if (auto reshape = become_convolution(graph, node, affine)) {
            behind.emplace(id, *std::move(reshape));
        }
    }
    std::vector<bool> removed;
    std::vector<ir::Node> old = std::exchange(graph.nodes, {});
    for (ir::NodeId id = 0; id < old.size(); ++id) {
        graph.nodes.push_back(std::move(old[id]));
        removed.push_back(folded[id]);
        const auto reshape = behind.find(id);
        if (reshape == behind.end()) continue;
        graph.nodes.push_back(std::move(reshape->second));
        removed.push_back(false);
    }
    ir::remove_nodes(graph, removed);
    return graph;
}

}  // namespace systole::passes
