#include "sim/run/execute/sequence.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

namespace systole::run {
namespace {

using ir::Node;
using ir::ValueId;

/// Nodes after which each token or step is still there, in the same order.
bool keeps_steps(const Node& node) {
    static const std::set<std::string_view> names{"add",      "cast",     "convolution", "dense",
                                                  "identity", "multiply", "reshape",     "transpose"};
    return names.contains(node.op->name());
}

class SequenceSearch {
public:
    explicit SequenceSearch(const ir::Graph& graph) : graph_(graph), readers_(graph.values.size()) {
        for (const Node& node : graph.nodes) {
            for (const ValueId input : node.inputs) {
                if (input != ir::no_value) readers_[input].push_back(&node);
            }
        }
    }

    std::optional<SequenceFacts> find() {
        if (graph_.inputs.empty()) return std::nullopt;
        const ValueId first = graph_.inputs.front();
        const ir::Shape& shape = graph_.values[first].shape;
        // Each axis but that of the batch, which has one inference, and that of a step's numbers.
        if (shape.rank() == 2 && shape[0] == 1 && are_indices(first)) {
            return SequenceFacts{.length = shape[1], .unit = "token"};
        }
        if (shape.rank() != 3) return std::nullopt;
        if (shape[0] == 1 && has_steps(first, shape[1]))
            return SequenceFacts{.length = shape[1], .unit = "step"};
        if (shape[1] == 1 && has_steps(first, shape[0]))
            return SequenceFacts{.length = shape[0], .unit = "step"};
        return std::nullopt;
    }

private:
    bool is_constant(ValueId id) const { return graph_.values[id].constant.has_value(); }

    /// Whether the elements of a value are the indices of rows of a table.
    bool are_indices(ValueId id) {
        return std::ranges::any_of(readers_[id], [&](const Node* node) {
            if (node->is("cast") || node->is("reshape")) return are_indices(node->output());
            return node->is("gather") && node->inputs.size() == 2 && node->inputs[1] == id &&
                   is_constant(node->inputs[0]) && graph_.values[node->inputs[0]].shape.rank() == 2 &&
                   node->integer("axis") == 0;
        });
    }

    /// Whether a value, or what is made of all its steps together, is taken apart into each of them, or read
    /// by a recurrence as a whole.
    bool has_steps(ValueId id, std::uint32_t steps) {
        if (!seen_.insert(id).second) return false;
        if (is_taken_apart(id, steps)) return true;
        return std::ranges::any_of(readers_[id], [&](const Node* node) {
            if (node->is("sequence_lstm")) return node->inputs.front() == id;
            const auto others = std::ranges::count_if(
                node->inputs, [&](ValueId input) { return input != ir::no_value && !is_constant(input); });
            return keeps_steps(*node) && others == 1 && has_steps(node->output(), steps);
        });
    }

    /// Whether each reader cuts one step out of [1][steps][numbers], and all of them all steps.
    bool is_taken_apart(ValueId id, std::uint32_t steps) const {
        const ir::Shape& shape = graph_.values[id].shape;
        if (steps < 2 || shape.rank() != 3 || shape[0] != 1 || shape[1] != steps) return false;
        std::set<std::int64_t> cut;
        for (const Node* const node : readers_[id]) {
            if (!node->is("strided_slice")) return false;
            const ir::Shape& part = graph_.values[node->output()].shape;
            if (part.rank() != 3 || part[1] != 1 || part[2] != shape[2]) return false;
            cut.insert(node->integers("first")[1]);
        }
        return cut.size() == steps;
    }

    const ir::Graph& graph_;
    std::vector<std::vector<const Node*>> readers_;
    std::set<ValueId> seen_;
};

}  // namespace

std::optional<SequenceFacts> sequence_of(const ir::Graph& graph) {
    return SequenceSearch(graph).find();
}

}  // namespace systole::run
