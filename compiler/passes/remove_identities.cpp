// Removes what changes no value: identities, borders and windows of nothing, and every reshape that only
// dense layers or other reshapes read. An input that is only ever read reshaped takes that shape itself; its
// elements stay where they are.
#include "compiler/passes/remove_identities.h"

#include <algorithm>
#include <optional>

#include "compiler/operators/operator.h"

namespace systole::passes {
namespace {

void remove_unchanging_nodes(ir::Graph& graph) {
    std::vector<bool> removed;
    for (const ir::Node& node : graph.nodes) {
        removed.push_back(operators::operator_of(node).is_identity(ir::NodeView(graph, node)));
    }
    ir::remove_nodes(graph, removed);
    ir::infer_shapes(graph);
}

/// Dense layers and reshapes see the elements, whatever their shape: they read what was reshaped.
void read_past_reshapes(ir::Graph& graph) {
    const auto producers = ir::producers(graph);
    for (ir::Node& node : graph.nodes) {
        if (!operators::operator_of(node).reads_elements()) continue;
        for (ir::ValueId& input : node.inputs) {
            const auto producer = producers[input];
            if (producer && graph.nodes[*producer].is("reshape"))
                input = graph.nodes[*producer].inputs.front();
        }
    }
    ir::remove_unread(graph);
}

/// The one shape in which an input is read, by others than dense layers.
std::optional<ir::Shape> reshaped_input(const ir::Graph& graph, ir::ValueId input) {
    std::optional<ir::Shape> shape;
    const std::vector<std::vector<ir::NodeId>> readers = ir::readers(graph);
    for (const ir::NodeId reader : readers[input]) {
        const ir::Node& node = graph.nodes[reader];
        if (node.is("dense")) continue;
        const ir::Shape& result = graph.values[node.output()].shape;
        if (!node.is("reshape") || (shape && *shape != result)) return std::nullopt;
        shape = result;
    }
    return shape;
}

}  // namespace

ir::Graph remove_identities(ir::Graph graph) {
    remove_unchanging_nodes(graph);
    read_past_reshapes(graph);
    for (const ir::ValueId input : graph.inputs) {
        if (const auto shape = reshaped_input(graph, input)) graph.values[input].shape = *shape;
    }
    // Some reshapes have become identities.
    remove_unchanging_nodes(graph);
    return graph;
}

}  // namespace systole::passes
