#include "compiler/passes/unread_nodes.h"

namespace systole::passes {

void remove_unread_nodes(graph::Graph& graph) {
    std::vector<bool> unread(graph.nodes.size(), true);
    unread.front() = false;
    unread.back() = false;
    for (std::size_t id = graph.nodes.size(); id-- > 0;) {
        if (unread[id]) continue;
        for (const graph::NodeId input : graph.nodes[id].inputs) unread[input] = false;
    }
    graph::remove_nodes(graph, unread);
}

}  // namespace systole::passes
