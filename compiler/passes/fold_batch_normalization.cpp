// Removes batch normalizations. Each becomes part of the weights and bias of the convolution or dense layer
// before it, if it is the layer's only reader; otherwise it becomes a 1x1 depthwise convolution.
#include "compiler/passes/fold_batch_normalization.h"

#include <algorithm>

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
        for (std::size_t i = 0; i < scaled.size(); ++i) scaled[i] *= affine.scale[i % channels];
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

void become_convolution(ir::Graph& graph, ir::Node& node, Affine affine) {
    const auto channels = static_cast<std::uint32_t>(affine.scale.size());
    const ir::ValueId weights = graph.add_constant(node.name + "/scale", {1, 1, 1, channels},
                                                   DataType::Float32, std::move(affine.scale));
    const ir::ValueId bias =
        graph.add_constant(node.name + "/offset", {channels}, DataType::Float32, std::move(affine.offset));
    node.op = &operators::registry().at("depthwise_convolution");
    node.attributes = ir::complete_attributes(*node.op, {});
    node.inputs = {node.inputs.front(), weights, bias};
}

}  // namespace

ir::Graph fold_batch_normalization(ir::Graph graph) {
    const auto readers = ir::readers(graph);
    const auto producers = ir::producers(graph);
    std::vector<bool> folded(graph.nodes.size(), false);
    for (ir::NodeId id = 0; id < graph.nodes.size(); ++id) {
        ir::Node& node = graph.nodes[id];
        if (!node.is("batch_normalization")) continue;
        const Affine affine = operators::affine_of(ir::NodeView(graph, node));
        const ir::ValueId read = node.inputs.front();
        const bool only_reader = readers[read].size() == 1 && !ir::is_output(graph, read);
        std::optional<ir::NodeId> producer = producers[read];
        while (producer && folded[*producer]) producer = producers[graph.nodes[*producer].inputs.front()];
        if (only_reader && producer && operators::operator_of(graph.nodes[*producer]).has_weights()) {
            scale_results(graph, graph.nodes[*producer], affine);
            folded[id] = true;
        } else {
            become_convolution(graph, node, affine);
        }
    }
    ir::remove_nodes(graph, folded);
    ir::infer_shapes(graph);
    // A vector that became the result of a convolution is an image with other axes.
    for (ir::Value& value : graph.values) {
        if (value.file_axes.size() != value.shape.rank()) value.file_axes.clear();
    }
    return graph;
}

}  // namespace systole::passes
