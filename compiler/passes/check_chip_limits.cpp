#include "compiler/passes/check_chip_limits.h"

#include <fmt/format.h>

#include "base/message_text.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/weighted.h"

namespace systole::passes {

void check_inferences(const ir::Graph& graph) {
    for (const ir::ValueId id : graph.inputs) {
        const ir::Value& input = graph.values[id];
        if (!input.is_shared) continue;
        throw ModelError(fmt::format("input {}: all inferences of a batch share it; no chip runs this yet",
                                     in_quotes(input.name)));
    }
    for (const ir::Node& node : graph.nodes) {
        if (node.op->reduces_batch(node)) {
            throw ModelError(
                fmt::format("layer {}: it combines the inferences of a batch; no chip does so yet",
                            in_quotes(node.name)));
        }
    }
}

void refuse_work_of_tensor_cores(const ir::Graph& graph) {
    if (!graph.state.empty()) {
        const ir::Value& input = graph.values[graph.inputs[graph.state.front().input]];
        throw ModelError(fmt::format(
            "input {}: an output replaces it in the next run; only machines with tensor cores keep state",
            in_quotes(input.name)));
    }
    for (const ir::Node& node : graph.nodes) {
        if (node.op->name().starts_with("word_")) {
            throw ModelError(fmt::format("layer {}: {} works on words; only machines with tensor cores do so",
                                         in_quotes(node.name), node.op->name()));
        }
        if (!node.op->mixes_images(node)) continue;
        throw ModelError(fmt::format(
            "layer {}: {} sums over the cores of a machine; only machines with tensor cores do so",
            in_quotes(node.name), node.op->name()));
    }
}

void check_chip_limits(const ir::Graph& graph) {
    check_inferences(graph);
    for (const ir::Node& node : graph.nodes) {
        // A graph on integers keeps its layers in float32 for the host.
        if (operators::has_sum_tile(node) && !ir::is_quantized(graph)) {
            throw ModelError(fmt::format(
                "layer {}: its float32 sums have an order (sum_tile); the chip computes it on integers",
                in_quotes(node.name)));
        }
        if (const auto role = ir::NodeView(graph, node).computed_parameter()) {
            throw ModelError(
                fmt::format("layer {}: another layer computes its {}; the chip needs constant weights",
                            in_quotes(node.name), *role));
        }
    }
}

}  // namespace systole::passes
