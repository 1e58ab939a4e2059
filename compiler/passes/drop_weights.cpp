// Forgets the values of weights and biases: what remains can be compiled to be timed.
#include "compiler/passes/drop_weights.h"

#include "compiler/passes/linear_operator.h"

namespace systole::passes {

graph::Graph drop_weights(graph::Graph graph) {
    for (graph::Node& node : graph.nodes) {
        const auto linear = as_linear(*node.op);
        if (!linear) continue;
        // clear() would keep the memory.
        *linear->weights = {};
        *linear->bias = {};
    }
    graph.has_weights = false;
    return graph;
}

}  // namespace systole::passes
