#include "compiler/target/tensor_core/needless_conversions.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/word_operation.h"
#include "compiler/operators/words.h"
#include "hw/math/floats/float_product.h"

namespace systole::tensor_core {
namespace {

/// Whether a node is work on one value alone, of as many elements as its result.
bool is_of_one_value(const ir::Graph& graph, const ir::Node& node) {
    if (!node.is("word_chain") || node.inputs.size() != 1) return false;
    const ir::Value& before = graph.values[node.inputs[0]];
    const ir::Value& result = graph.values[node.output()];
    return before.shape == result.shape && before.is_shared == result.is_shared;
}

/// The only step of such a node; nullopt if it has more.
std::optional<operators::WordStep> only_step(const ir::Graph& graph, const ir::Node& node) {
    if (!is_of_one_value(graph, node)) return std::nullopt;
    std::vector<operators::WordStep> steps = operators::rounded_word_steps({graph, node});
    if (steps.size() != 1) return std::nullopt;
    return steps[0];
}

/// Whether all that a node does is to round its input to bfloat16.
bool only_rounds(const ir::Graph& graph, const ir::Node& node) {
    const auto step = only_step(graph, node);
    const DataType type = graph.values[node.inputs[0]].type;
    return step && step->operation == WordOperation::RoundToBfloat16 &&
           (type == DataType::Float32 || type == DataType::Bfloat16);
}

/// Whether all that a node does is to call a bfloat16 a float32.
bool only_widens(const ir::Graph& graph, const ir::Node& node) {
    const auto step = only_step(graph, node);
    return step && step->operation == WordOperation::Or && step->operands[0] == step->operands[1] &&
           graph.values[node.inputs[0]].type == DataType::Bfloat16 &&
           graph.values[node.output()].type == DataType::Float32;
}

/// Whether the bits of the node's results follow from the words that it reads, whatever their type is.
bool reads_words(const ir::Node& node) {
    return node.is("word_chain") || node.is("word_reduce") || node.is("matrix_product") ||
           node.is("word_convolution");
}

/// Whether the array rounds the node's operands to bfloat16, and takes nothing else of them.
bool rounds_operands(const ir::Node& node) {
    if (!node.is("matrix_product") && !node.is("word_convolution")) return false;
    return node.text("precision") ==
           math::precision_names.at(static_cast<std::size_t>(math::Precision::Default));
}

/// All readers of the node's result read its input, if all of them may.
template <class MayRead>
void bypass(ir::Graph& graph, const ir::Node& node, const std::vector<ir::NodeId>& readers,
            const MayRead& may_read) {
    if (ir::is_output(graph, node.output())) return;
    const bool all =
        std::ranges::all_of(readers, [&](ir::NodeId reader) { return may_read(graph.nodes[reader]); });
    if (!all) return;
    for (const ir::NodeId reader : readers)
        std::ranges::replace(graph.nodes[reader].inputs, node.output(), node.inputs[0]);
}

}  // namespace

ir::Graph without_needless_conversions(ir::Graph graph) {
    std::vector<std::vector<ir::NodeId>> readers = ir::readers(graph);
    for (const ir::Node& node : graph.nodes) {
        if (only_widens(graph, node)) bypass(graph, node, readers[node.output()], reads_words);
    }
    ir::remove_unread(graph);
    readers = ir::readers(graph);
    const std::vector<std::optional<ir::NodeId>> producers = ir::producers(graph);
    // What nobody else reads would only be written for the products: as it is now, rounding is part of the
    // work that computes it.
    const auto is_there_anyway = [&](ir::ValueId value) {
        if (!producers[value] || ir::is_output(graph, value)) return true;
        return std::ranges::any_of(
            readers[value], [&](ir::NodeId reader) { return !only_rounds(graph, graph.nodes[reader]); });
    };
    for (const ir::Node& node : graph.nodes) {
        if (only_rounds(graph, node) && is_there_anyway(node.inputs[0]))
            bypass(graph, node, readers[node.output()], rounds_operands);
    }
    ir::remove_unread(graph);
    return graph;
}

}  // namespace systole::tensor_core
