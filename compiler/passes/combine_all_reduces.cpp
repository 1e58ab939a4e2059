// Makes one all-reduce of those that need no result of each other.
#include "compiler/passes/combine_all_reduces.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace systole::passes {
namespace {

/// By node: as many all-reduces as lie on the longest way to it.
std::vector<std::uint32_t> all_reduces_before(const ir::Graph& graph) {
    const std::vector<std::optional<ir::NodeId>> producers = ir::producers(graph);
    std::vector<std::uint32_t> before(graph.nodes.size(), 0);
    for (ir::NodeId id = 0; id < graph.nodes.size(); ++id) {
        for (const ir::ValueId input : graph.nodes[id].inputs) {
            const std::optional<ir::NodeId> producer = producers[input];
            if (!producer) continue;
            const std::uint32_t own = graph.nodes[*producer].is("all_reduce") ? 1 : 0;
            before[id] = std::max(before[id], before[*producer] + own);
        }
    }
    return before;
}

/// The nodes in an order in which each has its inputs, as near to the given one as possible.
std::vector<ir::Node> in_order(std::vector<ir::Node> nodes, std::size_t values) {
    std::vector<std::optional<std::size_t>> producers(values);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        for (const ir::ValueId output : nodes[i].outputs) producers[output] = i;
    }
    std::vector<std::size_t> missing(nodes.size(), 0);
    std::vector<std::vector<std::size_t>> readers(nodes.size());
    std::set<std::size_t> ready;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        for (const ir::ValueId input : nodes[i].inputs) {
            if (!producers[input]) continue;
            ++missing[i];
            readers[*producers[input]].push_back(i);
        }
        if (missing[i] == 0) ready.insert(i);
    }
    std::vector<ir::Node> ordered;
    while (!ready.empty()) {
        const std::size_t next = *ready.begin();
        ready.erase(ready.begin());
        for (const std::size_t reader : readers[next]) {
            if (--missing[reader] == 0) ready.insert(reader);
        }
        ordered.push_back(std::move(nodes[next]));
    }
    return ordered;
}

}  // namespace

ir::Graph combine_all_reduces(ir::Graph graph) {
    const std::vector<std::uint32_t> before = all_reduces_before(graph);
    // The last one of each kind: where it stands, the inputs of all of them are there.
    std::map<std::pair<std::uint32_t, std::int64_t>, ir::NodeId> last;
    for (ir::NodeId id = 0; id < graph.nodes.size(); ++id) {
        const ir::Node& node = graph.nodes[id];
        if (node.is("all_reduce")) last[{before[id], node.integer("parts")}] = id;
    }
    std::vector<ir::Node> nodes;
    std::map<ir::NodeId, ir::Node> begun;  // by the last one
    for (ir::NodeId id = 0; id < graph.nodes.size(); ++id) {
        ir::Node& node = graph.nodes[id];
        if (!node.is("all_reduce")) {
            nodes.push_back(std::move(node));
            continue;
        }
        const ir::NodeId into = last.at({before[id], node.integer("parts")});
        const auto [found, is_first] = begun.try_emplace(into, node);
        if (!is_first) {
            ir::Node& first = found->second;
            first.inputs.insert(first.inputs.end(), node.inputs.begin(), node.inputs.end());
            first.outputs.insert(first.outputs.end(), node.outputs.begin(), node.outputs.end());
        }
        if (into == id) nodes.push_back(std::move(found->second));
    }
    graph.nodes = in_order(std::move(nodes), graph.values.size());
    return graph;
}

}  // namespace systole::passes
