// Removes nodes that change no value: identities, empty borders, 1x1 pooling, and every reshape that only
// dense layers or other reshapes read. If all readers of an input reshape it in the same way, the input takes
// that shape; its elements stay in place.
#include "compiler/passes/remove_identities.h"

#include <algorithm>
#include <optional>

#include "compiler/operators/operator.h"

namespace systole::passes {
namespace {

/// Gives the order of an output's axes in the file to the value that takes its place. Returns whether that is
/// possible: an input of the network has an order of its own.
bool passes_order_on(ir::Graph& graph, const ir::Node& node) {
    const ir::Value& result = graph.values[node.output()];
    ir::Value& input = graph.values[node.inputs.front()];
    if (!ir::is_output(graph, node.output()) && result.file_axes.empty()) return true;
    if (result.file_axes == input.file_axes) return true;
    if (ir::is_input(graph, node.inputs.front()) || ir::is_output(graph, node.inputs.front())) return false;
    input.file_axes = result.file_axes;
    return true;
}

void remove_unchanging_nodes(ir::Graph& graph) {
    // A reshape that only adds or removes axes of 1 changes nothing, except for nodes that number the axes.
    const bool axes_matter =
        std::ranges::any_of(graph.nodes, [](const ir::Node& node) { return node.is("transpose"); });
    std::vector<bool> removed(graph.nodes.size(), false);
    for (std::size_t id = graph.nodes.size(); id-- > 0;) {
        const ir::Node& node = graph.nodes[id];
        const ir::NodeView view(graph, node);
        const bool changes_axes = node.is("reshape") && view.input().shape != view.output().shape;
        removed[id] = operators::operator_of(node).is_identity(view) && !(axes_matter && changes_axes) &&
                      passes_order_on(graph, node);
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
        if (!ir::is_feature_map(result)) return std::nullopt;
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
        // Another order of axes in the file belongs to the shape.
        if (!graph.values[input].file_axes.empty()) continue;
        if (const auto shape = reshaped_input(graph, input)) graph.values[input].shape = *shape;
    }
    // Some reshapes are identities now.
    remove_unchanging_nodes(graph);
    return graph;
}

}  // namespace systole::passes
