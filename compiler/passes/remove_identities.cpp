// Removes nodes that change no value: identities, empty borders, 1x1 pooling, every reshape that only dense
// layers or other reshapes read, and reshapes that only add or remove leading axes of extent 1, where nobody
// counts the axes. If all readers of an input that no output replaces reshape it in the same way, the input
// takes that shape; its elements stay in place.
#include "compiler/passes/remove_identities.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "compiler/ir/border_values.h"
#include "compiler/operators/operator.h"

namespace systole::passes {
namespace {

/// Whether a reshape only adds or removes leading axes of extent 1.
bool keeps_feature_map(const ir::NodeView& reshape) {
    const ir::Shape& from = reshape.input().shape;
    const ir::Shape& to = reshape.output().shape;
    return ir::is_feature_map(from) && ir::is_feature_map(to) && ir::feature_map(from) == ir::feature_map(to);
}

/// What leading axes of extent 1 mean to a node; scales for each index of an axis number the axes.
operators::LeadingOnes leading_ones(const ir::NodeView& view) {
    const auto scaled_by_axis = [&](ir::ValueId id) {
        const ir::Value& value = view.graph().values[id];
        return !value.constant && value.quantization && value.quantization->axis;
    };
    if (std::ranges::any_of(view.node().inputs, scaled_by_axis) ||
        std::ranges::any_of(view.node().outputs, scaled_by_axis)) {
        return operators::LeadingOnes::Counted;
    }
    // An image that is combined with a tensor that is none needs its axes, or the result is no image.
    const auto is_no_image = [&](ir::ValueId id) {
        const ir::Shape& shape = view.graph().values[id].shape;
        return shape.elements() > 1 && !ir::is_feature_map(shape);
    };
    const std::vector<ir::ValueId>& inputs = view.node().inputs;
    if (inputs.size() > 1 && std::ranges::any_of(inputs, is_no_image)) {
        return operators::LeadingOnes::Counted;
    }
    return operators::operator_of(view.node()).leading_ones(view);
}

/// Whether a node gives its input as it is.
bool keeps_input(const ir::NodeView& view) {
    return operators::operator_of(view.node()).is_identity(view) && view.input().shape == view.output().shape;
}

/// By value: whether its leading axes of extent 1 must stay. So it is for outputs of the network, where a
/// reader counts the axes, and where a reader passes them on to a result whose axes must stay.
std::vector<bool> values_with_fixed_axes(const ir::Graph& graph) {
    std::vector<bool> is_fixed(graph.values.size(), false);
    for (const ir::ValueId output : graph.outputs) is_fixed[output] = true;
    for (std::size_t id = graph.nodes.size(); id-- > 0;) {
        const ir::Node& node = graph.nodes[id];
        const bool is_removed = keeps_input({graph, node});
        if (operators::operator_of(node).reads_elements() && !is_removed) continue;
        const operators::LeadingOnes meaning =
            is_removed ? operators::LeadingOnes::Passed : leading_ones({graph, node});
        const bool fixes = meaning == operators::LeadingOnes::Counted ||
                           (meaning == operators::LeadingOnes::Passed && is_fixed[node.output()]);
        if (!fixes) continue;
        for (const ir::ValueId input : node.inputs) is_fixed[input] = true;
    }
    return is_fixed;
}

/// Makes a node that only adds or removes axes, such as a 1x1 pooling of a vector, a reshape.
void become_reshape(const ir::Graph& graph, ir::Node& node) {
    const auto extents = graph.values[node.output()].shape.extents();
    node.op = &operators::registry().at("reshape");
    node.attributes = ir::complete_attributes(
        *node.op, {{"shape", std::vector<std::int64_t>(extents.begin(), extents.end())}});
}

void remove_unchanging_nodes(ir::Graph& graph) {
    const std::vector<bool> is_fixed = values_with_fixed_axes(graph);
    const ir::BorderValues border(graph);
    std::vector<bool> removed(graph.nodes.size(), false);
    for (std::size_t id = graph.nodes.size(); id-- > 0;) {
        ir::Node& node = graph.nodes[id];
        const ir::NodeView view(graph, node);
        const bool is_same = keeps_input(view);
        if (!is_same && operators::operator_of(node).is_identity(view)) become_reshape(graph, node);
        const bool only_adds_ones = node.is("reshape") && !is_fixed[node.output()] && keeps_feature_map(view);
        removed[id] = is_same || only_adds_ones;
    }
    // Values whose axes nobody counts get other ones: they are other values.
    for (ir::ValueId id = 0; id < graph.values.size(); ++id) {
        if (!is_fixed[id] && !border.is_input(id)) graph.values[id].before.reset();
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
std::optional<ir::Shape> reshaped_input(const ir::Graph& graph, const std::vector<ir::NodeId>& readers) {
    std::optional<ir::Shape> shape;
    for (const ir::NodeId reader : readers) {
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
    const std::vector<std::vector<ir::NodeId>> readers = ir::readers(graph);
    const ir::BorderValues border(graph);
    for (const ir::ValueId input : graph.inputs) {
        // Another order of axes in the file belongs to the shape.
        if (!graph.values[input].file_axes.empty() || border.is_output(input)) continue;
        if (ir::is_replaced(graph, input)) continue;  // its shape is that of the output
        if (const auto shape = reshaped_input(graph, readers[input])) {
            graph.values[input].shape = *shape;
            graph.values[input].before.reset();
        }
    }
    // Some reshapes are identities now.
    remove_unchanging_nodes(graph);
    return graph;
}

}  // namespace systole::passes
