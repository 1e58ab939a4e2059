#include "compiler/passes/check_chip_limits.h"

#include <fmt/format.h>

#include "base/message_text.h"
#include "compiler/ir/model_error.h"

namespace systole::passes {

void check_chip_limits(const ir::Graph& graph) {
    if (!graph.state.empty()) {
        const ir::Value& input = graph.values[graph.inputs[graph.state.front().input]];
        throw ModelError(
            fmt::format("input {}: an output replaces it in the next run; no chip keeps state yet",
                        in_quotes(input.name)));
    }
    for (const ir::Node& node : graph.nodes) {
        if (const auto role = ir::NodeView(graph, node).computed_parameter()) {
            throw ModelError(
                fmt::format("layer {}: another layer computes its {}; the chip needs constant weights",
                            in_quotes(node.name), *role));
        }
    }
}

}  // namespace systole::passes
