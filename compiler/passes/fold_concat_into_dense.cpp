// Takes out concatenations of vectors that only dense layers read: these read the vectors themselves, whose
// products add up.
#include "compiler/passes/fold_concat_into_dense.h"

#include <algorithm>

#include "compiler/graph/operators/concat.h"
#include "compiler/graph/operators/dense.h"
#include "compiler/graph/operators/reshape.h"
#include "compiler/passes/unread_nodes.h"

namespace systole::passes {
namespace {

using graph::Graph;
using graph::NodeId;

template <typename Kind>
bool is(const Graph& graph, NodeId id) {
    return dynamic_cast<const Kind*>(graph.nodes[id].op.get()) != nullptr;
}

/// A dense layer sees the elements, whatever their shape.
NodeId before_reshapes(const Graph& graph, NodeId id) {
    while (is<graph::Reshape>(graph, id)) id = graph.nodes[id].inputs[0];
    return id;
}

void replace_input(Graph& graph, NodeId dense, NodeId concat) {
    std::vector<NodeId> inputs;
    for (const NodeId input : graph.nodes[dense].inputs) {
        if (input != concat) {
            inputs.push_back(input);
            continue;
        }
        for (const NodeId part : graph.nodes[concat].inputs) inputs.push_back(before_reshapes(graph, part));
    }
    graph.nodes[dense].inputs = std::move(inputs);
}

}  // namespace

Graph fold_concat_into_dense(Graph graph) {
    // From the last on: what a concatenation is concatenated to may be gone by then.
    for (auto id = static_cast<NodeId>(graph.nodes.size()); id-- > 0;) {
        const graph::Shape& shape = graph.nodes[id].shape;
        if (!is<graph::Concat>(graph, id) || shape.height != 1 || shape.width != 1) continue;
        const std::vector<NodeId> readers = graph::consumers(graph)[id];
        const auto reads_elements = [&](NodeId reader) { return is<graph::Dense>(graph, reader); };
        if (readers.empty() || !std::ranges::all_of(readers, reads_elements)) continue;
        for (const NodeId reader : readers) replace_input(graph, reader, id);
        graph.nodes[id].inputs.clear();  // it reads nothing any more
    }
    remove_unread_nodes(graph);
    return graph;
}

}  // namespace systole::passes
