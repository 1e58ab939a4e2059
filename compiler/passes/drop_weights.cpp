// Removes the values of weights and biases. The result can be compiled and timed, but not computed.
#include "compiler/passes/drop_weights.h"

namespace systole::passes {

ir::Graph drop_weights(ir::Graph graph) {
    for (const ir::Node& node : graph.nodes) {
        if (!node.op->has_weights()) continue;
        for (const ir::ValueId input : node.inputs) {
            if (graph.values[input].constant) graph.values[input].constant = ir::Constant();
        }
    }
    graph.has_weights = false;
    return graph;
}

}  // namespace systole::passes
