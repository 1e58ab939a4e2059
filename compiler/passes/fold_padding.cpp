// Turns borders of zeros into padding of the convolutions that read them, and removes borders without other
// readers.
#include "compiler/passes/fold_padding.h"

#include "compiler/operators/operator.h"

namespace systole::passes {

ir::Graph fold_padding(ir::Graph graph) {
    const auto producers = ir::producers(graph);
    const auto border_before = [&](const ir::Node& node) -> const ir::Node* {
        const auto producer = producers[node.inputs.front()];
        return producer && graph.nodes[*producer].is("zero_padding") ? &graph.nodes[*producer] : nullptr;
    };
    for (ir::Node& node : graph.nodes) {
        if (!operators::operator_of(node).pads_with_zeros()) continue;
        while (const ir::Node* const border = border_before(node)) {
            std::vector<std::int64_t> sides = node.integers("padding");
            for (std::size_t i = 0; i < sides.size(); ++i) sides[i] += border->integers("padding")[i];
            node.set("padding", std::move(sides));
            node.inputs.front() = border->inputs.front();
        }
    }
    ir::remove_unread(graph);
    return graph;
}

}  // namespace systole::passes
