#include "compiler/target/tensor_core/relu_masks.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/word_operation.h"
#include "compiler/operators/words.h"

namespace systole::tensor_core {
namespace {

/// Whether all that a node does is an operation of its only input and 0.
bool is_of_input_and_zero(const ir::Graph& graph, const ir::Node& node, WordOperation operation) {
    if (!node.is("word_chain") || node.inputs.size() != 1) return false;
    const DataType type = graph.values[node.inputs[0]].type;
    if (type != DataType::Float32 && type != DataType::Bfloat16) return false;
    const std::vector<operators::WordStep> steps = operators::rounded_word_steps({graph, node});
    constexpr std::uint8_t number = 0;
    constexpr std::uint8_t zero = 1;
    return steps.size() == 2 && steps[0].operation == WordOperation::Constant && steps[0].constant == 0 &&
           steps[1].operation == operation && steps[1].operands.size() == 2 &&
           (operation == WordOperation::Maximum
                ? steps[1].operands[0] != steps[1].operands[1]
                : steps[1].operands[0] == zero && steps[1].operands[1] == number);
}

bool is_product(const ir::Node& node) {
    return node.is("matrix_product") || node.is("word_convolution");
}

}  // namespace

ir::Graph with_masks_of_results(ir::Graph graph) {
    const std::vector<std::vector<ir::NodeId>> readers = ir::readers(graph);
    std::map<ir::ValueId, ir::NodeId> greatest;  // of the value and 0
    for (ir::NodeId id = 0; id < graph.nodes.size(); ++id) {
        const ir::Node& node = graph.nodes[id];
        if (!is_of_input_and_zero(graph, node, WordOperation::Maximum)) continue;
        const auto reads = [&](ir::NodeId reader) { return is_product(graph.nodes[reader]); };
        if (std::ranges::any_of(readers[node.output()], reads)) greatest.emplace(node.inputs[0], id);
    }
    std::vector<ir::Node> nodes;
    std::vector<bool> is_there(graph.nodes.size());
    for (ir::NodeId id = 0; id < graph.nodes.size(); ++id) {
        if (is_there[id]) continue;
        ir::Node& node = graph.nodes[id];
        const auto found = node.inputs.empty() ? greatest.end() : greatest.find(node.inputs[0]);
        if (found != greatest.end() && is_of_input_and_zero(graph, node, WordOperation::Less)) {
            // The maximum comes before the question, both of which need the same number alone.
            ir::Node& result = graph.nodes[found->second];
            node.inputs[0] = result.output();
            if (!is_there[found->second]) nodes.push_back(result);
            is_there[found->second] = true;
        }
        nodes.push_back(node);
        is_there[id] = true;
    }
    graph.nodes = std::move(nodes);
    return graph;
}

}  // namespace systole::tensor_core
