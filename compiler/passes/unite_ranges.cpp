// Gives all that a concatenation or a dense layer holds together one range, so that no branch has to be
// scaled again.
#include "compiler/passes/unite_ranges.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "compiler/graph/operators/concat.h"
#include "compiler/graph/operators/dense.h"
#include "compiler/graph/operators/pool.h"
#include "compiler/graph/operators/reshape.h"
#include "compiler/graph/operators/slice.h"
#include "compiler/graph/operators/zero_padding.h"

namespace systole::passes {
namespace {

using graph::Graph;
using graph::NodeId;

/// Sets of nodes, each named by one of its nodes.
class NodeSets {
public:
    explicit NodeSets(std::size_t nodes) : parents_(nodes) {
        std::iota(parents_.begin(), parents_.end(), NodeId{0});
    }

    NodeId find(NodeId node) const {
        while (parents_[node] != node) node = parents_[node];
        return node;
    }
    void unite(NodeId a, NodeId b) { parents_[find(a)] = find(b); }

private:
    std::vector<NodeId> parents_;
};

template <typename Kind>
bool is(const Graph& graph, NodeId id) {
    return dynamic_cast<const Kind*>(graph.nodes[id].op.get()) != nullptr;
}

/// The result has the encoding of the one input.
bool moves(const Graph& graph, NodeId id) {
    return is<graph::Pool>(graph, id) || is<graph::ZeroPadding>(graph, id) || is<graph::Reshape>(graph, id) ||
           is<graph::Slice>(graph, id);
}

}  // namespace

NodeId moved_source(const Graph& graph, NodeId id) {
    while (moves(graph, id)) id = graph.nodes[id].inputs[0];
    return id;
}

std::vector<Range> unite_ranges(const Graph& graph, std::vector<Range> ranges) {
    NodeSets sets(graph.nodes.size());
    const auto unite = [&](NodeId input, NodeId with) {
        sets.unite(input, with);
        for (; moves(graph, input); input = graph.nodes[input].inputs[0]) {
            sets.unite(graph.nodes[input].inputs[0], input);
        }
    };
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
        const std::vector<NodeId>& inputs = graph.nodes[id].inputs;
        if (is<graph::Concat>(graph, id)) {
            for (const NodeId input : inputs) {
                // The range of the concatenation covers the network's input, too.
                if (moved_source(graph, input) != 0) unite(input, id);
            }
        }
        if (is<graph::Dense>(graph, id)) {
            std::optional<NodeId> first;
            for (const NodeId input : inputs) {
                if (moved_source(graph, input) == 0 && graph.nodes[0].activation_bits == 8) continue;
                if (first) unite(input, *first);
                if (!first) unite(first.emplace(input), input);
            }
        }
    }
    std::vector<Range> united(graph.nodes.size());
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
        Range& range = united[sets.find(id)];
        range.minimum = std::min(range.minimum, ranges[id].minimum);
        range.maximum = std::max(range.maximum, ranges[id].maximum);
    }
    for (NodeId id = 0; id < graph.nodes.size(); ++id) ranges[id] = united[sets.find(id)];
    return ranges;
}

}  // namespace systole::passes
