#include "compiler/target/tensor_core/needless_reshapes.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace systole::tensor_core {
namespace {

class Reshapes {
public:
    explicit Reshapes(const ir::Graph& graph)
        : graph_(graph), readers_(ir::readers(graph)), producers_(ir::producers(graph)) {}

    /// The shape of which all that a chain reads is reshaped, and to which its results are; nullopt if these
    /// are not alike, or something else reads a result. Single numbers have any shape.
    std::optional<ir::Shape> around(const ir::Node& chain) const {
        const ir::ValueId result = chain.output();
        if (!chain.is("word_chain") || ir::is_output(graph_, result) || readers_[result].empty() ||
            graph_.values[result].shape.elements() == 1)
            return std::nullopt;
        std::optional<ir::Shape> shape;
        const auto is_like_others = [&](const ir::Shape& other) {
            if (!shape) shape = other;
            return *shape == other;
        };
        for (const ir::NodeId reader : readers_[result]) {
            const ir::Node& node = graph_.nodes[reader];
            if (!node.is("reshape") || ir::is_output(graph_, node.output())) return std::nullopt;
            if (!is_like_others(graph_.values[node.output()].shape)) return std::nullopt;
        }
        for (const ir::ValueId input : chain.inputs) {
            const ir::Value& value = graph_.values[input];
            if (value.shape.elements() == 1 && value.shape.rank() <= shape->rank()) continue;
            const ir::Node* const before = reshape_of(input);
            if (before == nullptr || value.shape != graph_.values[result].shape ||
                !is_like_others(graph_.values[before->inputs[0]].shape))
                return std::nullopt;
        }
        return shape;
    }

    const ir::Node* reshape_of(ir::ValueId id) const {
        if (!producers_[id]) return nullptr;
        const ir::Node& node = graph_.nodes[*producers_[id]];
        return node.is("reshape") ? &node : nullptr;
    }
    const std::vector<ir::NodeId>& readers(ir::ValueId id) const { return readers_[id]; }

private:
    const ir::Graph& graph_;
    std::vector<std::vector<ir::NodeId>> readers_;
    std::vector<std::optional<ir::NodeId>> producers_;
};

}  // namespace

ir::Graph without_needless_reshapes(ir::Graph graph) {
    const Reshapes reshapes(graph);
    for (ir::Node& node : graph.nodes) {
        const std::optional<ir::Shape> shape = reshapes.around(node);
        if (!shape) continue;
        for (ir::ValueId& input : node.inputs) {
            if (graph.values[input].shape.elements() > 1) input = reshapes.reshape_of(input)->inputs[0];
        }
        graph.values[node.output()].shape = *shape;
        for (const ir::NodeId reader : reshapes.readers(node.output())) {
            const ir::ValueId reshaped = graph.nodes[reader].output();
            for (const ir::NodeId behind : reshapes.readers(reshaped))
                std::ranges::replace(graph.nodes[behind].inputs, reshaped, node.output());
        }
    }
    ir::remove_unread(graph);
    return graph;
}

}  // namespace systole::tensor_core
