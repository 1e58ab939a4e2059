#include "compiler/target/tensor_core/transposed_weights.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace systole::tensor_core {
namespace {

bool exchanges_last_two(const ir::Node& node) {
    if (!node.is("transpose")) return false;
    const std::vector<std::int64_t>& axes = node.integers("permutation");
    const std::size_t rank = axes.size();
    for (std::size_t axis = 0; axis + 2 < rank; ++axis) {
        if (axes[axis] != static_cast<std::int64_t>(axis)) return false;
    }
    return rank >= 2 && axes[rank - 1] == static_cast<std::int64_t>(rank - 2);
}

}  // namespace

ir::Graph with_transposed_weights(ir::Graph graph) {
    const std::vector<std::optional<ir::NodeId>> producers = ir::producers(graph);
    for (ir::Node& node : graph.nodes) {
        if (!node.is("matrix_product")) continue;
        const std::optional<ir::NodeId> before = producers[node.inputs[1]];
        if (!before || !exchanges_last_two(graph.nodes[*before])) continue;
        node.inputs[1] = graph.nodes[*before].inputs.front();
        node.set("transposed_b", std::int64_t{1} - node.integer("transposed_b"));
    }
    ir::remove_unread(graph);
    return graph;
}

}  // namespace systole::tensor_core
