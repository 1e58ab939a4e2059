#include "compiler/graph/graph.h"

#include <fmt/format.h>

#include <stdexcept>

#include "compiler/graph/shape_text.h"
#include "compiler/model_error.h"

namespace systole::graph {

std::uint64_t Operator::macs(std::span<const Shape> /*inputs*/) const {
    return 0;
}

NodeId Graph::append(std::string layer, std::unique_ptr<Operator> op, std::vector<NodeId> inputs) {
    Node node{.name = std::move(layer), .op = std::move(op), .inputs = std::move(inputs), .shape = {}};
    for (const NodeId input : node.inputs) {
        if (input >= nodes.size()) throw std::logic_error("a node must come after its inputs");
    }
    try {
        node.shape = node.op->output_shape(input_shapes(*this, node));
        const auto elements = checked_elements(node.shape);
        if (!elements || *elements > maximum_elements) {
            throw ModelError(fmt::format("its result is {}; a tensor has at most {} elements",
                                         to_text(node.shape), maximum_elements));
        }
    } catch (const ModelError& error) {
        throw ModelError(fmt::format("layer {}: {}", quoted(node.name), error.what()));
    }
    nodes.push_back(std::move(node));
    return static_cast<NodeId>(nodes.size() - 1);
}

Graph clone(const Graph& graph) {
    Graph copy{.name = graph.name, .nodes = {}};
    copy.nodes.reserve(graph.nodes.size());
    for (const Node& node : graph.nodes) {
        copy.nodes.push_back({node.name, node.op->clone(), node.inputs, node.shape});
    }
    return copy;
}

std::vector<Shape> input_shapes(const Graph& graph, const Node& node) {
    std::vector<Shape> shapes;
    for (const NodeId input : node.inputs) shapes.push_back(graph.nodes[input].shape);
    return shapes;
}

std::vector<std::vector<NodeId>> consumers(const Graph& graph) {
    std::vector<std::vector<NodeId>> readers(graph.nodes.size());
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
        for (const NodeId input : graph.nodes[id].inputs) readers[input].push_back(id);
    }
    return readers;
}

void remove_nodes(Graph& graph, const std::vector<bool>& removed) {
    std::vector<Node> kept;
    std::vector<NodeId> new_ids(graph.nodes.size());
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
        Node& node = graph.nodes[id];
        for (NodeId& input : node.inputs) input = new_ids[input];
        if (removed[id]) {
            if (node.inputs.size() != 1) throw std::logic_error("only a node with one input can be removed");
            new_ids[id] = node.inputs[0];
        } else {
            new_ids[id] = static_cast<NodeId>(kept.size());
            kept.push_back(std::move(node));
        }
    }
    graph.nodes = std::move(kept);
}

std::uint64_t macs(const Graph& graph) {
    std::uint64_t sum = 0;
    for (const Node& node : graph.nodes) sum += node.op->macs(input_shapes(graph, node));
    return sum;
}

std::string to_text(const Graph& graph) {
    std::string text = fmt::format("graph {}\n", quoted(graph.name));
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
        const Node& node = graph.nodes[id];
        text += fmt::format("%{} = {}({}) -> {} {}", id, node.op->kind(), joined(node.inputs, "%"),
                            to_text(node.shape), quoted(node.name));
        const std::string parameters = node.op->parameters();
        text += parameters.empty() ? "\n" : fmt::format(": {}\n", parameters);
    }
    return text;
}

}  // namespace systole::graph
