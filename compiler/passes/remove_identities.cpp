// Removes nodes that change no value: identities, empty borders, 1x1 pooling, and every reshape that only
// dense layers or other reshapes read. If all readers of an input reshape it in the same way, the input takes
// that shape; its elements stay in place.
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

/// Lets dense layers and reshapes, which ignore their inputs' shape, read the value before a reshape.
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

/// The only shape in which nodes other than dense layers read an input, if there is one.
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
    // Some reshapes are identities now.
    remove_unchanging_nodes(graph);
    return graph;
}

}  // namespace systole::passes
