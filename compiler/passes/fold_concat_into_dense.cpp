// Removes concatenations of vectors that only dense layers read. The dense layers then read the vectors
// themselves and add up the products.
#include "compiler/passes/fold_concat_into_dense.h"

#include <algorithm>

#include "compiler/operators/operator.h"

namespace systole::passes {
namespace {

/// The value before reshapes: a dense layer reads the elements, independent of their shape.
ir::ValueId before_reshapes(const ir::Graph& graph, ir::ValueId value) {
    const auto producers = ir::producers(graph);
    while (producers[value] && graph.nodes[*producers[value]].is("reshape")) {
        value = graph.nodes[*producers[value]].inputs.front();
    }
    return value;
}

void replace_input(const ir::Graph& graph, ir::Node& dense, const ir::Node& concat) {
    std::vector<ir::ValueId> inputs;
    for (const ir::ValueId input : dense.inputs) {
        if (input != concat.output()) {
            inputs.push_back(input);
            continue;
        }
        for (const ir::ValueId part : concat.inputs) inputs.push_back(before_reshapes(graph, part));
    }
    dense.inputs = std::move(inputs);
}

/// Whether a concatenation is of vectors along their elements. A dense layer takes constants as weights.
bool joins_vectors(const ir::NodeView& concat) {
    if (concat.data_inputs() != concat.node().inputs.size()) return false;
    const ir::Shape& shape = concat.output().shape;
    if (!ir::is_feature_map(shape) || !ir::feature_map(shape).is_vector()) return false;
    const std::int64_t axis = concat.node().integer("axis");
    return axis < 0 || axis + 1 == static_cast<std::int64_t>(shape.rank());
}

}  // namespace

ir::Graph fold_concat_into_dense(ir::Graph graph) {
    // In reverse order: a concatenation that reads this one may have been removed by then.
    for (auto id = static_cast<ir::NodeId>(graph.nodes.size()); id-- > 0;) {
        ir::Node& concat = graph.nodes[id];
        if (!concat.is("concat") || !joins_vectors(ir::NodeView(graph, concat))) continue;
        const std::vector<ir::NodeId> readers = ir::readers(graph)[concat.output()];
        const auto is_dense = [&](ir::NodeId reader) { return graph.nodes[reader].is("dense"); };
        if (readers.empty() || ir::is_output(graph, concat.output()) ||
            !std::ranges::all_of(readers, is_dense)) {
            continue;
        }
        for (const ir::NodeId reader : readers) replace_input(graph, graph.nodes[reader], concat);
        ir::remove_unread(graph);
        id = std::min(id, static_cast<ir::NodeId>(graph.nodes.size()));
    }
    return graph;
}

}  // namespace systole::passes
