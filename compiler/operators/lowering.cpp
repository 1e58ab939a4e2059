#include "compiler/operators/lowering.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/model_error.h"
#include "compiler/ir/names.h"
#include "compiler/operators/encoding.h"
#include "compiler/operators/operator.h"

namespace systole::operators {

using ir::Node;
using ir::ValueId;
using mapping::TensorId;

Lowering::Lowering(const ir::Graph& graph)
    : graph_(graph), readers_(ir::readers(graph)), tensors_(graph.values.size()) {
    network_.name = graph.name;
    network_.has_weights = graph.has_weights;
}

const Node* Lowering::lookup_after(ValueId id) const {
    if (readers_[id].size() != 1 || ir::is_output(graph_, id)) return nullptr;
    const Node& reader = graph_.nodes[readers_[id][0]];
    return reader.is("lookup") ? &reader : nullptr;
}

void Lowering::fail(const Node& node, const std::string& rule) const {
    throw ModelError(fmt::format("{}: layer {}: {}", graph_.name, ir::quoted(node.name), rule));
}

TensorId Lowering::tensor_of(ValueId id) const {
    const ir::Value& value = graph_.values[id];
    if (value.constant) {
        throw ModelError(
            fmt::format("{}: layer {}: it is a constant; the chip takes constants as weights alone",
                        graph_.name, ir::quoted(value.name)));
    }
    return tensors_[id].value();
}

void Lowering::require_tensors(const Node& node) const {
    for (const ValueId input : node.inputs) tensor_of(input);
}

TensorId Lowering::add_tensor(ValueId id) {
    const ir::Value& value = graph_.values[id];
    const Encoding encoding = encoding_of(value);
    const auto tensor = static_cast<TensorId>(network_.tensors.size());
    network_.tensors.push_back({.name = value.name,
                                .shape = ir::feature_map(value.shape),
                                .scale = encoding.scale,
                                .zero_point = encoding.zero_point,
                                .type = encoding.type});
    tensors_[id] = tensor;
    return tensor;
}

void Lowering::add_layer(const Node& node, ValueId result, mapping::Work work) {
    const ir::NodeView view(graph_, node);
    mapping::Layer layer{.name = node.name,
                         .inputs = {},
                         .output = 0,
                         .work = std::move(work),
                         .macs = operator_of(node).macs(view)};
    for (std::size_t i = 0; i < view.data_inputs(); ++i) layer.inputs.push_back(tensor_of(node.inputs[i]));
    layer.output = add_tensor(result);
    share_tensor(node.output(), layer.output);
    network_.layers.push_back(std::move(layer));
}

void Lowering::add_host_operation(const Node& node) {
    network_.host_operations.push_back({.kind = std::string(node.op->name()), .layer = node.name});
}

mapping::Network Lowering::finish() && {
    if (network_.layers.empty()) {
        throw ModelError(fmt::format("{}: it has no layer with work for the chip", graph_.name));
    }
    network_.input = tensor_of(graph_.inputs.front());
    network_.output = tensor_of(graph_.outputs.front());
    return std::move(network_);
}

mapping::Table table_of(const ir::NodeView& lookup) {
    const ir::Constant& contents = *lookup.constant(0)->constant;
    if (bytes_of(lookup.output().type) == 2) {
        mapping::WideTable table{};
        std::ranges::copy(contents.values<std::int16_t>(), table.begin());
        return table;
    }
    mapping::ByteTable table{};
    std::ranges::copy(contents.bytes(), table.begin());
    return table;
}

bool is_quantized(const ir::Graph& graph) {
    return !graph.inputs.empty() && is_integer(graph.values[graph.inputs.front()].type);
}

mapping::Network lower(const ir::Graph& graph) {
    if (graph.inputs.size() != 1 || graph.outputs.size() != 1) {
        throw ModelError(fmt::format("{}: it has {} and {}; a network that is compiled has one of each",
                                     graph.name, ir::counted(graph.inputs.size(), "input"),
                                     ir::counted(graph.outputs.size(), "output")));
    }
    if (!is_quantized(graph) || !graph.input().quantization) {
        throw ModelError(fmt::format("{}: its input must be of integers that have a scale", graph.name));
    }
    for (const ir::Value& value : graph.values) {
        if (!graph.has_weights || !value.constant || value.constant->is_known()) continue;
        throw ModelError(
            fmt::format("{}: {} has no values; the graph must be one without weights, or have all",
                        graph.name, ir::quoted(value.name)));
    }
    Lowering lowering(graph);
    lowering.add_tensor(graph.inputs.front());
    for (const Node& node : graph.nodes) {
        // The work of an earlier node may include this one.
        if (lowering.has_tensor(node.output())) continue;
        operator_of(node).lower(ir::NodeView(graph, node), lowering);
    }
    return std::move(lowering).finish();
}

ValueId chip_output(const ir::Graph& graph) {
    ValueId value = graph.outputs.front();
    const auto producers = ir::producers(graph);
    while (producers[value] && operator_of(graph.nodes[*producers[value]]).runs_on_host()) {
        value = graph.nodes[*producers[value]].inputs.front();
    }
    return value;
}

}  // namespace systole::operators
