#include "compiler/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "compiler/graph/shape_text.h"
#include "compiler/model_error.h"

namespace systole::graph {

std::uint64_t Operator::macs(std::span<const Shape> /*inputs*/) const {
    return 0;
}

NodeId Graph::append(std::string layer, std::unique_ptr<Operator> op, std::vector<NodeId> inputs,
                     std::uint8_t activation_bits) {
    Node node{.name = std::move(layer),
              .op = std::move(op),
              .inputs = std::move(inputs),
              .shape = {},
              .activation_bits = activation_bits};
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
    Graph copy{.name = graph.name, .nodes = {}, .has_weights = graph.has_weights};
    copy.nodes.reserve(graph.nodes.size());
    for (const Node& node : graph.nodes) {
        copy.nodes.push_back({node.name, node.op->clone(), node.inputs, node.shape, node.activation_bits});
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
    const std::vector<std::vector<NodeId>> readers = consumers(graph);
    constexpr NodeId gone = std::numeric_limits<NodeId>::max();
    std::vector<Node> kept;
    std::vector<NodeId> new_ids(graph.nodes.size(), gone);
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
        Node& node = graph.nodes[id];
        const bool read_alone = node.inputs.size() == 1 && readers[node.inputs[0]].size() == 1;
        for (NodeId& input : node.inputs) input = new_ids[input];
        if (!removed[id]) {
            if (std::ranges::find(node.inputs, gone) != node.inputs.end()) {
                throw std::logic_error("a node that is read can be removed only if it has one input");
            }
            new_ids[id] = static_cast<NodeId>(kept.size());
            kept.push_back(std::move(node));
            continue;
        }
        const bool is_last = id + 1 == graph.nodes.size();
        if (node.inputs.size() != 1) {
            if (is_last) throw std::logic_error("the output can be removed only if it has one input");
            continue;
        }
        new_ids[id] = node.inputs[0];
        const bool is_read = !readers[id].empty() || is_last;
        if (read_alone && is_read && new_ids[id] != gone) {
            kept[new_ids[id]].activation_bits = node.activation_bits;
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
        if (node.activation_bits != 8) text += fmt::format(" {}-bit", node.activation_bits);
        const std::string parameters = node.op->parameters();
        text += parameters.empty() ? "\n" : fmt::format(": {}\n", parameters);
    }
    return text;
}

}  // namespace systole::graph
