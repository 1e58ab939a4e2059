#include "compiler/passes/quantizer.h"

#include <fmt/format.h>

#include "compiler/ir/model_error.h"
#include "compiler/ir/names.h"

namespace systole::passes {

using ir::Node;
using ir::ValueId;
using quantized::TensorId;

Quantizer::Quantizer(const ir::Graph& graph, std::vector<Range> ranges,
                     std::optional<InputEncoding> input_encoding)
    : graph_(graph),
      ranges_(std::move(ranges)),
      input_encoding_(input_encoding),
      readers_(ir::readers(graph)),
      tensors_(graph.values.size()) {
    network_.name = graph.name;
    network_.has_weights = graph.has_weights;
}

const Node* Quantizer::function_after(ValueId id) const {
    if (readers_[id].size() != 1 || ir::is_output(graph_, id)) return nullptr;
    const Node& reader = graph_.nodes[readers_[id][0]];
    return operators::operator_of(reader).function(reader) ? &reader : nullptr;
}

operators::ElementFunction Quantizer::function_of(const Node& node) {
    return operators::operator_of(node).function(node).value();
}

TensorId Quantizer::tensor_of(ValueId id) const {
    if (graph_.values[id].constant) fail(id, "it is a constant; the chip takes constants as weights alone");
    return tensors_[id].value();
}

TensorId Quantizer::add_tensor(ValueId id, const Encoding& encoding) {
    const TensorId tensor = add_rescaled(id, encoding);
    tensors_[id] = tensor;
    return tensor;
}

TensorId Quantizer::add_rescaled(ValueId id, const Encoding& encoding) {
    const auto tensor = static_cast<TensorId>(network_.tensors.size());
    network_.tensors.push_back({.name = graph_.values[id].name,
                                .shape = ir::feature_map(graph_.values[id].shape),
                                .scale = encoding.scale,
                                .zero_point = encoding.zero_point,
                                .type = encoding.type});
    return tensor;
}

void Quantizer::add_layer(const Node& node, std::vector<TensorId> inputs, TensorId output,
                          quantized::Operation operation) {
    network_.layers.push_back({node.name, std::move(inputs), output, std::move(operation)});
}

void Quantizer::add_host_operation(std::string kind, std::string layer) {
    network_.host_operations.push_back({std::move(kind), std::move(layer)});
}

void Quantizer::fail(ValueId id, const std::string& rule) const {
    throw ModelError(fmt::format("{}: layer {}: {}", graph_.name, ir::quoted(graph_.values[id].name), rule));
}

DataType Quantizer::type(ValueId id) const {
    const DataType type = graph_.values[id].stored_as;
    if (type != DataType::Uint8 && type != DataType::Int16) {
        fail(id, fmt::format("it is to be stored as {}; activations may be uint8 or int16", name_of(type)));
    }
    return type;
}

void Quantizer::require_one_width(const Node& node) const {
    constexpr std::uint32_t byte_bits = 8;
    const auto bits = [](DataType type) { return bytes_of(type) * byte_bits; };
    const DataType result = type(node.output());
    for (const ValueId input : node.inputs) {
        const DataType given = tensor(tensor_of(input)).type;
        if (bytes_of(given) == bytes_of(result)) continue;
        fail(node.output(), fmt::format("it gives {} bits from {} bits; of {}, input and result have as many",
                                        bits(result), bits(given), node.op->name()));
    }
}

quantized::Network Quantizer::finish() && {
    if (network_.layers.empty()) {
        throw ModelError(fmt::format("{}: it has no layer with work for the chip", graph_.name));
    }
    network_.input = tensor_of(graph_.inputs.front());
    network_.output = tensor_of(graph_.outputs.front());
    return std::move(network_);
}

}  // namespace systole::passes
