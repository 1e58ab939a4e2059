#include "compiler/operators/known_product.h"

#include <string>
#include <utility>

#include "compiler/ir/graph.h"
#include "compiler/operators/operator.h"

namespace systole::operators {
namespace {

/// A node in a graph of its own, which gets its first input.
ir::Graph graph_of_one(const ir::LayerReader& layer, std::string_view op,
                       std::vector<ir::NamedAttribute> attributes, const std::vector<ir::ValueId>& inputs,
                       const std::optional<ir::ResultType>& type) {
    ir::Graph graph;
    std::vector<ir::ValueId> ids;
    for (const ir::ValueId input : inputs) {
        const ir::Value& value = layer.value(input);
        ids.push_back(ids.empty() ? graph.add_input(value.name, value.shape)
                                  : graph.add_constant(value.name, value.shape, value.type, *value.constant));
        graph.values[ids.back()].type = value.type;
        graph.values[ids.back()].quantization = value.quantization;
    }
    std::vector<ir::ResultType> types;
    if (type) types.push_back(*type);
    graph.append(std::string(op), registry().at(op), std::move(attributes), std::move(ids), DataType::Uint8,
                 std::move(types));
    registry().at(op).check_types(ir::NodeView(graph, graph.nodes.front()));
    return graph;
}

/// The bytes of its result.
std::vector<std::uint8_t> result_of(const ir::Graph& graph, const ir::Constant& first) {
    const ir::Node& node = graph.nodes.front();
    std::vector<const void*> inputs{first.bytes().data()};
    for (std::size_t i = 1; i < node.inputs.size(); ++i) {
        inputs.push_back(graph.values[node.inputs[i]].constant->bytes().data());
    }
    const ir::Value& result = graph.values[node.outputs.front()];
    std::vector<std::uint8_t> bytes(result.shape.elements() * bytes_of(result.type));
    void* const output = bytes.data();
    operator_of(node).compute(
        {.node = ir::NodeView(graph, node), .inputs = inputs, .batch = 1, .outputs = {&output, 1}});
    return bytes;
}

}  // namespace

ir::ValueId append_known_product(ir::LayerReader& layer, std::string_view op,
                                 std::vector<ir::NamedAttribute> attributes,
                                 const std::vector<ir::ValueId>& inputs,
                                 const std::optional<ir::ResultType>& type) {
    const ir::Graph graph = graph_of_one(layer, op, std::move(attributes), inputs, type);
    const ir::Value& result = graph.values[graph.nodes.front().outputs.front()];
    const ir::Constant first = *layer.value(inputs.front()).constant;
    const ir::ValueId id =
        layer.add_constant("product", result.shape, result.type, ir::Constant::of(result_of(graph, first)));
    return result.quantization ? layer.as_quantized(id, *result.quantization) : id;
}

}  // namespace systole::operators
