#include "compiler/passes/quantizer.h"

#include <fmt/format.h>

#include "compiler/graph/shape_text.h"
#include "compiler/model_error.h"

namespace systole::passes {

using graph::NodeId;
using quantized::TensorId;

Quantizer::Quantizer(const graph::Graph& graph, std::vector<Range> ranges,
                     std::optional<InputEncoding> input_encoding)
    : graph_(graph),
      ranges_(std::move(ranges)),
      input_encoding_(input_encoding),
      readers_(graph::consumers(graph)),
      tensors_(graph.nodes.size()) {
    network_.name = graph.name;
    network_.has_weights = graph.has_weights;
}

std::optional<NodeId> Quantizer::activation_after(NodeId id) const {
    if (readers_[id].size() != 1) return std::nullopt;
    const NodeId reader = readers_[id][0];
    if (dynamic_cast<const graph::Activation*>(node(reader).op.get()) == nullptr) return std::nullopt;
    return reader;
}

const graph::Activation& Quantizer::activation(NodeId id) const {
    return dynamic_cast<const graph::Activation&>(*node(id).op);
}

TensorId Quantizer::add_tensor(NodeId id, const Encoding& encoding) {
    const TensorId tensor = add_rescaled(id, encoding);
    tensors_[id] = tensor;
    return tensor;
}

TensorId Quantizer::add_rescaled(NodeId id, const Encoding& encoding) {
    const auto tensor = static_cast<TensorId>(network_.tensors.size());
    network_.tensors.push_back({.name = node(id).name,
                                .shape = node(id).shape,
                                .scale = encoding.scale,
                                .zero_point = encoding.zero_point,
                                .type = encoding.type});
    return tensor;
}

void Quantizer::add_layer(NodeId id, std::vector<TensorId> inputs, TensorId output,
                          quantized::Operation operation) {
    network_.layers.push_back({node(id).name, std::move(inputs), output, std::move(operation)});
}

void Quantizer::add_host_operation(std::string kind, std::string layer) {
    network_.host_operations.push_back({std::move(kind), std::move(layer)});
}

void Quantizer::fail(NodeId id, const std::string& rule) const {
    throw ModelError(fmt::format("{}: layer {}: {}", graph_.name, graph::quoted(node(id).name), rule));
}

DataType Quantizer::type(NodeId id) const {
    switch (node(id).activation_bits) {
        case 8:
            return DataType::Uint8;
        case 16:
            return DataType::Int16;
        default:
            fail(id, fmt::format("its activations have {} bits; they may have 8 or 16",
                                 node(id).activation_bits));
    }
}

void Quantizer::require_one_width(NodeId id) const {
    for (const NodeId input : node(id).inputs) {
        const bool input_is_wide = bytes_of(tensor(tensor_of(input)).type) == 2;
        if (input_is_wide == (bytes_of(type(id)) == 2)) continue;
        fail(id, fmt::format("it gives {} bits from {} bits; of {}, input and result have as many",
                             node(id).activation_bits, input_is_wide ? 16 : 8, node(id).op->kind()));
    }
}

quantized::Network Quantizer::finish() && {
    if (network_.layers.empty()) {
        throw ModelError(fmt::format("{}: it has no layer with work for the chip", graph_.name));
    }
    network_.input = tensor_of(0);
    network_.output = tensor_of(static_cast<NodeId>(graph_.nodes.size() - 1));
    return std::move(network_);
}

}  // namespace systole::passes
