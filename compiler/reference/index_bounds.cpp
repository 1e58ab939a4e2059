#include "compiler/reference/index_bounds.h"

#include <algorithm>
#include <numeric>

#include "compiler/operators/axis_lines.h"
#include "compiler/operators/indices.h"
#include "compiler/operators/operator.h"

namespace systole::reference {

std::vector<IndexBounds> index_bounds(const ir::Graph& graph) {
    std::vector<ir::ValueId> sources(graph.values.size());
    std::iota(sources.begin(), sources.end(), ir::ValueId{0});
    std::vector<IndexBounds> bounds;
    for (ir::NodeId id = 0; id < graph.nodes.size(); ++id) {
        const ir::Node& node = graph.nodes[id];
        const ir::NodeView view(graph, node);
        const bool moves =
            operators::operator_of(node).moves_elements() || operators::operator_of(node).is_identity(view);
        if (moves && node.inputs.size() == 1) sources[node.output()] = sources[node.inputs.front()];
        const bool is_of_one_axis =
            node.is("gather_elements") || (node.is("gather") && node.integer("index_axes") == 0);
        if (!is_of_one_axis) continue;
        const auto input = std::ranges::find(graph.inputs, sources[node.inputs.at(1)]);
        if (input == graph.inputs.end()) continue;
        const std::int64_t count = view.input(0).shape[operators::axis_of_attribute(view)];
        bounds.push_back({.input = static_cast<std::size_t>(input - graph.inputs.begin()),
                          .least = operators::counts_from_end(node) ? -count : 0,
                          .most = count - 1,
                          .node = id});
    }
    return bounds;
}

}  // namespace systole::reference
