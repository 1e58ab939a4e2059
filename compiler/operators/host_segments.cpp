#include "compiler/operators/host_segments.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ir/border_values.h"
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
    NodeId root(NodeId node) {
        while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
        return node;
    }
    void unite(NodeId a, NodeId b) { parent_[std::max(root(a), root(b))] = std::min(root(a), root(b)); }

private:
    std::vector<NodeId> parent_;
};

}  // namespace

HostPlan find_host_segments(const Graph& graph, std::vector<bool> on_chip) {
    HostPlan plan{.segments = {}, .at_end = nodes_at_end(graph), .on_chip = std::move(on_chip)};
    const auto producers = ir::producers(graph);
    std::vector<bool> is_at_end(graph.nodes.size(), false);
    for (const NodeId id : plan.at_end) is_at_end[id] = true;
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
        if (plan.on_chip[id] || is_at_end[id]) continue;
        for (const ValueId input : graph.nodes[id].inputs) {
            if (!producers[input] || plan.on_chip[*producers[input]]) continue;
            if (changes[*producers[input]] == changes[id]) sets.unite(*producers[input], id);
        }
    }
    std::map<NodeId, HostNodes> segments;
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
        if (!plan.on_chip[id] && !is_at_end[id]) segments[sets.root(id)].push_back(id);
    }
    for (auto& [first, nodes] : segments) plan.segments.push_back(std::move(nodes));
    return plan;
}

ValueId program_output(const Graph& graph) {
    const std::vector<NodeId> at_end = nodes_at_end(graph);
    return at_end.empty() ? graph.outputs.front() : graph.nodes[at_end.front()].inputs.front();
}

namespace {

/// Cuts segments out of a graph.
class SegmentCutter {
public:
    explicit SegmentCutter(const Graph& graph)
        : graph_(graph),
          border_(graph),
          producers_(ir::producers(graph)),
          readers_(ir::readers(graph)),
          segment_of_(graph.nodes.size(), 0),
          place_(graph.values.size()) {}

    SegmentGraph cut(const HostNodes& nodes) {
        ++number_;
        for (const NodeId id : nodes) segment_of_[id] = number_;
        SegmentGraph segment;
        segment.graph.name = graph_.nodes[nodes.front()].name;
        segment.graph.has_weights = graph_.has_weights;
        for (const NodeId id : nodes) {
            for (const ValueId input : graph_.nodes[id].inputs) {
                if (place_of(input) || (producers_[input] && is_inside(*producers_[input]))) continue;
                const ValueId added = add(input, segment.graph);
                if (graph_.values[input].constant) continue;
                segment.graph.inputs.push_back(added);
                segment.inputs.push_back(input);
            }
        }
        for (const NodeId id : nodes) add_node(graph_.nodes[id], segment);
        return segment;
    }

private:
    /// A value of the segment.
    struct Place {
        std::size_t segment = 0;
        ValueId value = 0;
    };

    bool is_inside(NodeId node) const { return segment_of_[node] == number_; }
    std::optional<ValueId> place_of(ValueId id) const {
        return place_[id].segment == number_ ? std::optional(place_[id].value) : std::nullopt;
    }
    ValueId add(ValueId id, Graph& to) {
        place_[id] = {.segment = number_, .value = static_cast<ValueId>(to.values.size())};
        to.values.push_back(graph_.values[id]);
        return place_[id].value;
    }

    void add_node(Node node, SegmentGraph& segment) {
        for (ValueId& output : node.outputs) {
            const bool is_read =
                border_.is_output(output) ||
                std::ranges::any_of(readers_[output], [&](NodeId by) { return !is_inside(by); });
            const ValueId whole = output;
            output = add(whole, segment.graph);
            if (!is_read) continue;
            segment.graph.outputs.push_back(output);
            segment.outputs.push_back(whole);
        }
        for (ValueId& input : node.inputs) input = place_of(input).value();
        segment.graph.nodes.push_back(std::move(node));
    }

    const Graph& graph_;
    const ir::BorderValues border_;
    const std::vector<std::optional<NodeId>> producers_;
    const std::vector<std::vector<NodeId>> readers_;
    std::size_t number_ = 0;               ///< of the segment that is cut, counted from 1
    std::vector<std::size_t> segment_of_;  ///< by node: the last that has it
    std::vector<Place> place_;             ///< by value: in the last segment that has it
};

/// Whether a name has a path of modules before it, as PyTorch and its exporters write it.
bool is_path(std::string_view name) {
    const bool has_form = name.starts_with('/') || name.find('.') != std::string_view::npos;
    return has_form && name.find_first_of("./", 1) != std::string_view::npos;
}

/// The path that names have in common; a name itself if it is the only one. Empty if there is none.
std::string common_path(const std::set<std::string_view>& names) {
    if (names.empty()) return {};
    std::string_view common = *names.begin();
    for (const std::string_view name : names) {
        const auto ends = std::ranges::mismatch(common, name);
        const auto length = static_cast<std::size_t>(ends.in1 - common.begin());
        const auto ends_at = [&](std::string_view each) {
            return each.size() == length || each[length] == '.' || each[length] == '/';
        };
        const bool is_part = ends_at(common) && ends_at(name);
        common = common.substr(0, length);
        if (is_part) continue;
        const std::size_t end = common.find_last_of("./");
        common = common.substr(0, end == std::string_view::npos ? 0 : end);
    }
    return std::string(common);
}

std::vector<std::string> segment_names(const Graph& graph, const std::vector<HostNodes>& segments) {
    std::map<std::string_view, std::size_t> nodes_by_name;
    for (const Node& node : graph.nodes) ++nodes_by_name[node.name];
    std::vector<std::string> paths;
    std::map<std::string, std::size_t> segments_by_path;
    for (const HostNodes& nodes : segments) {
        std::set<std::string_view> names;
        for (const NodeId id : nodes) {
            if (is_path(graph.nodes[id].name)) names.insert(graph.nodes[id].name);
        }
        ++segments_by_path[paths.emplace_back(common_path(names))];
    }
    std::vector<std::string> all;
    for (std::size_t i = 0; i < segments.size(); ++i) {
        const auto named = nodes_by_name.find(paths[i]);
        const auto own = static_cast<std::size_t>(
            std::ranges::count_if(segments[i], [&](NodeId id) { return graph.nodes[id].name == paths[i]; }));
        const bool is_of_others = named != nodes_by_name.end() && named->second > own;
        const bool is_telling = !paths[i].empty() && segments_by_path[paths[i]] == 1 && !is_of_others;
        all.push_back(is_telling ? paths[i] : graph.nodes[segments[i].front()].name);
    }
    return all;
}

}  // namespace

std::vector<SegmentGraph> segment_graphs(const Graph& graph, const std::vector<HostNodes>& segments) {
    std::vector<SegmentGraph> graphs;
    if (segments.empty()) return graphs;
    graphs.reserve(segments.size());
    SegmentCutter cutter(graph);
    for (const HostNodes& nodes : segments) graphs.push_back(cutter.cut(nodes));
    const std::vector<std::string> names = segment_names(graph, segments);
    for (std::size_t i = 0; i < graphs.size(); ++i) graphs[i].name = names[i];
    return graphs;
}

SegmentCost segment_cost(const Graph& segment) {
    SegmentCost cost;
    const auto elements = [&](ValueId id) { return segment.values[id].shape.elements(); };
    const auto is_stored = [&](ValueId id) { return segment.values[id].quantization.has_value(); };
    std::vector<bool> is_read(segment.values.size(), false);  // constants, as a whole
    for (const Node& node : segment.nodes) {
        const ir::NodeView view(segment, node);
        cost.operations += operator_of(node).operations(view);
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            const ValueId input = node.inputs[i];
            if (!segment.values[input].constant) {
                if (is_stored(input)) cost.operations += operations_to_real * elements(input);
            } else if (const auto bytes = operator_of(node).bytes_read(view, i)) {
                cost.bytes += *bytes;
            } else {
                is_read[input] = true;
            }
        }
        for (const ValueId output : node.outputs) {
            if (is_stored(output)) cost.operations += operations_to_stored * elements(output);
        }
    }
    for (const auto* values : {&segment.inputs, &segment.outputs}) {
        for (const ValueId id : *values) cost.bytes += elements(id) * bytes_of(segment.values[id].type);
    }
    for (ValueId id = 0; id < segment.values.size(); ++id) {
        if (is_read[id]) cost.constant_bytes += elements(id) * bytes_of(segment.values[id].type);
    }
    return cost;
}

}  // namespace systole::operators
