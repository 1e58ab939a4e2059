// Removes what changes no value: linear activations, borders and windows of nothing, and every reshape that
// only dense layers or other reshapes read. An input that is only ever read reshaped takes that shape itself;
// its elements stay where they are.
#include "compiler/passes/remove_identities.h"

#include <algorithm>
#include <optional>

#include "compiler/graph/operators/activation.h"
#include "compiler/graph/operators/dense.h"
#include "compiler/graph/operators/input.h"
#include "compiler/graph/operators/pool.h"
#include "compiler/graph/operators/reshape.h"
#include "compiler/graph/operators/zero_padding.h"
#include "compiler/passes/unread_nodes.h"

namespace systole::passes {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;

template <typename Kind>
const Kind* as(const Node& node) {
    return dynamic_cast<const Kind*>(node.op.get());
}

bool is_identity(const Graph& graph, const Node& node) {
    if (const auto* const activation = as<graph::Activation>(node)) {
        return activation->function == graph::ActivationFunction::Linear;
    }
    if (as<graph::Reshape>(node) != nullptr || as<graph::ZeroPadding>(node) != nullptr) {
        return node.shape == graph.nodes[node.inputs[0]].shape;
    }
    const auto* const pool = as<graph::Pool>(node);
    return pool != nullptr && pool->window == graph::Window{};
}

/// Dense layers and reshapes see the elements, whatever their shape: they read what was reshaped.
void read_past_reshapes(Graph& graph) {
    for (Node& node : graph.nodes) {
        if (as<graph::Dense>(node) == nullptr && as<graph::Reshape>(node) == nullptr) continue;
        for (NodeId& input : node.inputs) {
            const Node& source = graph.nodes[input];
            if (as<graph::Reshape>(source) != nullptr) input = source.inputs[0];
        }
    }
    remove_unread_nodes(graph);
}

/// The one shape in which the input is read, by others than dense layers.
std::optional<graph::Shape> reshaped_input(const Graph& graph) {
    const auto readers = graph::consumers(graph);
    std::optional<graph::Shape> shape;
    for (const NodeId reader : readers[0]) {
        const Node& node = graph.nodes[reader];
        if (as<graph::Dense>(node) != nullptr) continue;
        if (as<graph::Reshape>(node) == nullptr || (shape && *shape != node.shape)) return std::nullopt;
        shape = node.shape;
    }
    return shape;
}

void remove(Graph& graph, bool (*unwanted)(const Graph&, const Node&)) {
    std::vector<bool> removed;
    for (const Node& node : graph.nodes) removed.push_back(unwanted(graph, node));
    graph::remove_nodes(graph, removed);
}

}  // namespace

Graph remove_identities(Graph graph) {
    remove(graph, is_identity);
    read_past_reshapes(graph);
    if (const auto shape = reshaped_input(graph)) {
        graph.nodes[0].op = std::make_unique<graph::Input>(*shape);
        graph.nodes[0].shape = *shape;
    }
    // Some reshapes have become identities.
    remove(graph, is_identity);
    return graph;
}

}  // namespace systole::passes
