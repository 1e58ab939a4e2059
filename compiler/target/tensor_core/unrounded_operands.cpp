#include "compiler/target/tensor_core/unrounded_operands.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/word_operation.h"
#include "compiler/operators/words.h"
#include "hw/math/floats/float_product.h"

namespace systole::tensor_core {
namespace {

/// Whether all that a node does is to round its input to bfloat16.
bool only_rounds(const ir::Graph& graph, const ir::Node& node) {
    if (!node.is("word_chain") || node.inputs.size() != 1) return false;
    const std::vector<operators::WordStep> steps = operators::rounded_word_steps({graph, node});
    if (steps.size() != 1 || steps[0].operation != WordOperation::RoundToBfloat16) return false;
    const ir::Value& before = graph.values[node.inputs[0]];
    const ir::Value& rounded = graph.values[node.output()];
    return before.shape == rounded.shape && before.is_shared == rounded.is_shared;
}

/// Whether the array rounds the node's operands to bfloat16, and takes nothing else of them.
bool rounds_operands(const ir::Node& node) {
    if (!node.is("word_product") && !node.is("word_convolution")) return false;
    return node.text("precision") ==
           math::precision_names.at(static_cast<std::size_t>(math::Precision::Default));
}

}  // namespace

ir::Graph take_unrounded_operands(ir::Graph graph) {
    const std::vector<std::vector<ir::NodeId>> readers = ir::readers(graph);
    const std::vector<std::optional<ir::NodeId>> producers = ir::producers(graph);
    // What nobody else reads would only be written for the products: as it is now, rounding is part of the
    // work that computes it.
    const auto is_there_anyway = [&](ir::ValueId value) {
        if (!producers[value] || ir::is_output(graph, value)) return true;
        return std::ranges::any_of(
            readers[value], [&](ir::NodeId reader) { return !only_rounds(graph, graph.nodes[reader]); });
    };
    for (const ir::Node& node : graph.nodes) {
        if (!only_rounds(graph, node) || ir::is_output(graph, node.output())) continue;
        const ir::ValueId before = node.inputs[0];
        const std::vector<ir::NodeId>& all = readers[node.output()];
        const bool products_alone =
            std::ranges::all_of(all, [&](ir::NodeId reader) { return rounds_operands(graph.nodes[reader]); });
        if (!products_alone || !is_there_anyway(before)) continue;
        for (const ir::NodeId reader : all)
            std::ranges::replace(graph.nodes[reader].inputs, node.output(), before);
    }
    ir::remove_unread(graph);
    return graph;
}

}  // namespace systole::tensor_core
