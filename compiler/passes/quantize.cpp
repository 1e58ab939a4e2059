// Quantizes a simplified graph, by the rule of each node's operator.
#include "compiler/passes/quantize.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/operators/lowering.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/quantizer.h"

namespace systole::passes {
namespace {

void quantize_input(operators::Quantizer& quantizer, ir::ValueId id,
                    const std::optional<InputEncoding>& given) {
    if (quantizer.graph().values[id].type != DataType::Float32) return quantizer.add_integer_input(id);
    operators::Encoding encoding = quantizer.encoding(id);
    // The given encoding applies to bytes only.
    if (given && bytes_of(encoding.type) != 2) {
        const std::int32_t largest_byte = highest_of(encoding.type);
        if (!(given->scale > 0.0) || !std::isfinite(given->scale)) {
            quantizer.fail(id, fmt::format("the scale of the input is {}; it must be above 0", given->scale));
        }
        if (given->zero_point < 0 || given->zero_point > largest_byte) {
            quantizer.fail(id, fmt::format("the zero point of the input is {}; it must be 0 to {}",
                                           given->zero_point, largest_byte));
        }
        encoding = {given->scale, given->zero_point, encoding.type};
    }
    quantizer.add_input(id, encoding);
}

/// Moves the conversions for concatenations forward, behind the first node that reads the converted value.
/// Where a concatenation needs them, their rows would come between the last branch and its readers.
void convert_early(ir::Graph& graph) {
    const auto readers = ir::readers(graph);
    const auto is_conversion = [&](const ir::Node& node) {
        return node.is("lookup") && readers[node.output()].size() == 1 &&
               graph.nodes[readers[node.output()].front()].is("concat");
    };
    // By value: the first node that reads it as it is.
    std::vector<std::optional<ir::NodeId>> used_by(graph.values.size());
    for (ir::NodeId id = 0; id < graph.nodes.size(); ++id) {
        if (is_conversion(graph.nodes[id])) continue;
        for (const ir::ValueId input : graph.nodes[id].inputs) {
            if (!used_by[input]) used_by[input] = id;
        }
    }
    std::vector<std::vector<ir::NodeId>> behind(graph.nodes.size());
    std::vector<bool> moved(graph.nodes.size(), false);
    for (ir::NodeId id = 0; id < graph.nodes.size(); ++id) {
        const ir::Node& node = graph.nodes[id];
        if (!is_conversion(node)) continue;
        const std::optional<ir::NodeId> reader = used_by[node.inputs.front()];
        if (!reader || *reader >= id) continue;
        behind[*reader].push_back(id);
        moved[id] = true;
    }
    std::vector<ir::Node> nodes;
    for (ir::NodeId id = 0; id < graph.nodes.size(); ++id) {
        if (!moved[id]) nodes.push_back(graph.nodes[id]);
        for (const ir::NodeId other : behind[id]) nodes.push_back(graph.nodes[other]);
    }
    graph.nodes = std::move(nodes);
}

}  // namespace

ir::Graph quantize(const ir::Graph& graph, const std::optional<InputEncoding>& input) {
    if (operators::is_quantized(graph)) return graph;
    operators::Quantizer quantizer(graph);
    for (const ir::ValueId id : graph.inputs) quantize_input(quantizer, id, input);
    for (const ir::Node& node : graph.nodes) {
        // A function may already be part of the layer before it.
        if (quantizer.is_stored(node.outputs.front())) continue;
        operators::operator_of(node).quantize(node, quantizer);
    }
    ir::Graph quantized = std::move(quantizer).finish();
    convert_early(quantized);
    return quantized;
}

}  // namespace systole::passes
