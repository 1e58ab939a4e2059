#include "compiler/operators/host_segments.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "compiler/operators/operator.h"

namespace systole::operators {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;

/// Operations to convert an element between a stored integer and float: subtract the zero point, scale; or
/// divide, round, add, clamp.
constexpr std::uint64_t operations_to_real = 2;
constexpr std::uint64_t operations_to_stored = 4;

/// The nodes behind the chip's program: a chain up to the only output, whose values nothing else reads.
std::vector<NodeId> nodes_at_end(const Graph& graph) {
    std::vector<NodeId> nodes;
    if (graph.outputs.size() != 1) return nodes;
    const auto producers = ir::producers(graph);
    const auto readers = ir::readers(graph);
    ValueId value = graph.outputs.front();
    while (producers[value] && readers[value].size() == (nodes.empty() ? 0U : 1U)) {
        const Node& node = graph.nodes[*producers[value]];
        const bool is_float = graph.values[node.output()].type == DataType::Float32;
        if (!operator_of(node).is_host_operation({graph, node}) || !is_float) break;
        nodes.push_back(*producers[value]);
        value = node.inputs.front();
    }
    std::reverse(nodes.begin(), nodes.end());
    return nodes;
}

/// Sets that grow together.
class Sets {
public:
    explicit Sets(std::size_t count) : parent_(count) {
        std::iota(parent_.begin(), parent_.end(), NodeId{0});
    }
    NodeId root(NodeId node) const {
        while (parent_[node] != node) node = parent_[node];
        return node;
    }
    void unite(NodeId a, NodeId b) { parent_[std::max(root(a), root(b))] = std::min(root(a), root(b)); }

private:
    std::vector<NodeId> parent_;
};

/// The chip computes integers alone, and images and vectors.
bool runs_on_chip(const Graph& graph, const Node& node) {
    const auto is_for_host = [&](ValueId id) {
        const ir::Value& value = graph.values[id];
        return !value.constant && (!is_integer(value.type) || !ir::is_feature_map(value.shape));
    };
    return !operator_of(node).needs_host({graph, node}) && std::ranges::none_of(node.inputs, is_for_host) &&
           std::ranges::none_of(node.outputs, is_for_host);
}

}  // namespace

HostPlan find_host_segments(const Graph& graph) {
    HostPlan plan{.segments = {}, .at_end = nodes_at_end(graph), .on_chip = {}};
    const auto producers = ir::producers(graph);
    const auto is_at_end = [&](NodeId id) { return std::ranges::count(plan.at_end, id) > 0; };
    for (const Node& node : graph.nodes) plan.on_chip.push_back(runs_on_chip(graph, node));
    // The number of changes from host to chip on the way to each node: nodes of the host with the same number
    // have no node of the chip between them.
    std::vector<std::uint32_t> changes(graph.nodes.size(), 0);
    Sets sets(graph.nodes.size());
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
        for (const ValueId input : graph.nodes[id].inputs) {
            if (!producers[input]) continue;
            const NodeId from = *producers[input];
            const bool returns = plan.on_chip[id] && !plan.on_chip[from];
            changes[id] = std::max(changes[id], changes[from] + (returns ? 1U : 0U));
        }
        if (plan.on_chip[id] || is_at_end(id)) continue;
        for (const ValueId input : graph.nodes[id].inputs) {
            if (!producers[input] || plan.on_chip[*producers[input]]) continue;
            if (changes[*producers[input]] == changes[id]) sets.unite(*producers[input], id);
        }
    }
    std::map<NodeId, HostNodes> segments;
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
        if (!plan.on_chip[id] && !is_at_end(id)) segments[sets.root(id)].push_back(id);
    }
    for (auto& [first, nodes] : segments) plan.segments.push_back(std::move(nodes));
    return plan;
}

SegmentGraph segment_graph(const Graph& graph, const HostNodes& nodes) {
    SegmentGraph segment;
    segment.graph.name = graph.nodes[nodes.front()].name;
    segment.graph.has_weights = graph.has_weights;
    std::vector<std::optional<ValueId>> place(graph.values.size());
    std::vector<bool> is_inside(graph.nodes.size(), false);
    for (const NodeId id : nodes) is_inside[id] = true;
    const auto add = [&](ValueId id) {
        place[id] = static_cast<ValueId>(segment.graph.values.size());
        segment.graph.values.push_back(graph.values[id]);
        return *place[id];
    };
    const auto producers = ir::producers(graph);
    const auto readers = ir::readers(graph);
    for (const NodeId id : nodes) {
        for (const ValueId input : graph.nodes[id].inputs) {
            if (place[input] || (producers[input] && is_inside[*producers[input]])) continue;
            const ValueId added = add(input);
            if (graph.values[input].constant) continue;
            segment.graph.inputs.push_back(added);
            segment.inputs.push_back(input);
        }
    }
    for (const NodeId id : nodes) {
        Node node = graph.nodes[id];
        for (ValueId& output : node.outputs) {
            const bool is_read =
                ir::is_output(graph, output) ||
                std::ranges::any_of(readers[output], [&](NodeId by) { return !is_inside[by]; });
            const ValueId whole = output;
            output = add(whole);
            if (!is_read) continue;
            segment.graph.outputs.push_back(output);
            segment.outputs.push_back(whole);
        }
        for (ValueId& input : node.inputs) input = *place[input];
        segment.graph.nodes.push_back(std::move(node));
    }
    return segment;
}

SegmentCost segment_cost(const Graph& segment) {
    SegmentCost cost;
    const auto elements = [&](ValueId id) { return segment.values[id].shape.elements(); };
    const auto is_stored = [&](ValueId id) { return segment.values[id].quantization.has_value(); };
    for (const Node& node : segment.nodes) {
        cost.operations += operator_of(node).operations(ir::NodeView(segment, node));
        for (const ValueId input : node.inputs) {
            const bool is_data = !segment.values[input].constant;
            if (is_data && is_stored(input)) cost.operations += operations_to_real * elements(input);
        }
        for (const ValueId output : node.outputs) {
            if (is_stored(output)) cost.operations += operations_to_stored * elements(output);
        }
    }
    for (const auto* values : {&segment.inputs, &segment.outputs}) {
        for (const ValueId id : *values) cost.bytes += elements(id) * bytes_of(segment.values[id].type);
    }
    for (const ir::Value& value : segment.values) {
        if (value.constant) cost.constant_bytes += value.shape.elements() * bytes_of(value.type);
    }
    return cost;
}

}  // namespace systole::operators
