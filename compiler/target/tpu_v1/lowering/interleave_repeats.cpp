// The order of recurrences that do not depend on each other.
#include "compiler/target/tpu_v1/lowering/interleave_repeats.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace systole::tpu_v1 {
namespace {

/// By node: the nodes on the longest way to it from the network's inputs.
std::vector<std::uint32_t> depths_of(const ir::Graph& graph) {
    const auto producers = ir::producers(graph);
    std::vector<std::uint32_t> depths(graph.nodes.size(), 0);
    for (ir::NodeId id = 0; id < graph.nodes.size(); ++id) {
        for (const ir::ValueId input : graph.nodes[id].inputs) {
            if (producers[input]) depths[id] = std::max(depths[id], depths[*producers[input]] + 1);
        }
    }
    return depths;
}

}  // namespace

ir::Graph interleave_repeats(ir::Graph graph) {
    std::optional<ir::NodeId> first;
    ir::NodeId end = 0;
    for (const std::vector<ir::NodeId>& part : ir::repeated_nodes(graph)) {
        first = std::min(first.value_or(part.front()), part.front());
        end = std::max(end, part.back() + 1);
    }
    if (!first) return graph;
    const std::vector<std::uint32_t> depths = depths_of(graph);
    std::vector<ir::NodeId> order(end - *first);
    std::iota(order.begin(), order.end(), *first);
    std::ranges::stable_sort(order, {}, [&](ir::NodeId id) { return depths[id]; });
    std::vector<ir::Node> nodes;
    nodes.reserve(order.size());
    for (const ir::NodeId id : order) nodes.push_back(std::move(graph.nodes[id]));
    std::ranges::move(nodes, graph.nodes.begin() + *first);
    return graph;
}

}  // namespace systole::tpu_v1
