#include "compiler/target/tensor_core/equal_nodes.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/target/tensor_core/constant_words.h"

namespace systole::tensor_core {
namespace {

/// What a result is, beside its numbers.
using Kind = std::tuple<std::vector<std::uint32_t>, DataType, bool>;
/// What a node does, and with what. Attributes are texts, as -0.0 is another number than 0.0 there.
using Computation =
    std::tuple<const ir::Operator*, std::vector<std::string>, std::vector<ir::ValueId>, std::vector<Kind>>;

Kind kind_of(const ir::Value& value) {
    const auto extents = value.shape.extents();
    return {{extents.begin(), extents.end()}, value.type, value.is_shared};
}

/// By value: the first constant of one known element that is the same, or the value itself.
std::vector<ir::ValueId> first_constants(const ir::Graph& graph) {
    std::map<std::pair<Kind, std::uint32_t>, ir::ValueId> found;
    std::vector<ir::ValueId> first(graph.values.size());
    for (ir::ValueId id = 0; id < graph.values.size(); ++id) {
        first[id] = id;
        const ir::Value& value = graph.values[id];
        if (!value.constant || value.shape.elements() != 1) continue;
        const std::vector<std::uint32_t> words = words_of(value);
        if (words.size() == 1)
            first[id] = found.emplace(std::pair(kind_of(value), words[0]), id).first->second;
    }
    return first;
}

}  // namespace

ir::Graph without_equal_nodes(ir::Graph graph) {
    std::vector<ir::ValueId> first = first_constants(graph);
    std::map<Computation, const ir::Node*> done;
    for (ir::Node& node : graph.nodes) {
        for (ir::ValueId& input : node.inputs) input = first[input];
        std::vector<Kind> kinds;
        bool is_read_outside = false;
        for (const ir::ValueId output : node.outputs) {
            kinds.push_back(kind_of(graph.values[output]));
            is_read_outside |= ir::is_output(graph, output);
        }
        std::vector<std::string> attributes;
        for (const ir::Attribute& attribute : node.attributes) attributes.push_back(ir::to_text(attribute));
        const auto [before, is_new] =
            done.emplace(Computation{node.op, std::move(attributes), node.inputs, std::move(kinds)}, &node);
        // Each output of the graph keeps a place of its own.
        if (is_new || is_read_outside) continue;
        for (std::size_t i = 0; i < node.outputs.size(); ++i)
            first[node.outputs[i]] = before->second->outputs[i];
    }
    ir::remove_unread(graph);
    return graph;
}

}  // namespace systole::tensor_core
