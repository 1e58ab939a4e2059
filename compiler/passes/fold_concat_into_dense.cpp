// Removes concatenations of vectors that only dense layers read. The dense layers then read the vectors
// themselves and add up the products.
#include "compiler/passes/fold_concat_into_dense.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "compiler/ir/border_values.h"

namespace systole::passes {
namespace {

/// Whether all parts are stored as the concatenation is. It converts the others, which a dense layer does
/// not: its weights are made for the numbers of the concatenation.
bool converts_no_part(const ir::NodeView& concat) {
    for (std::size_t i = 0; i < concat.node().inputs.size(); ++i) {
        const ir::Value& part = concat.input(i);
        if (part.type != concat.output().type || part.quantization != concat.output().quantization)
            return false;
    }
    return true;
}

/// Whether a concatenation is of vectors along their elements. A dense layer takes constants as weights.
bool joins_vectors(const ir::NodeView& concat) {
    if (concat.data_inputs() != concat.node().inputs.size() || !converts_no_part(concat)) return false;
    const ir::Shape& shape = concat.output().shape;
    if (!ir::is_feature_map(shape) || !ir::feature_map(shape).is_vector()) return false;
    const std::int64_t axis = concat.node().integer("axis");
    return axis < 0 || axis + 1 == static_cast<std::int64_t>(shape.rank());
}

/// Finds the concatenations that only dense layers read, from the last on: one that such a concatenation
/// reads may be of that kind, too.
class Folding {
public:
    explicit Folding(ir::Graph& graph)
        : graph_(graph),
          border_(graph),
          producers_(ir::producers(graph)),
          readers_(ir::readers(graph)),
          before_reshapes_(graph.values.size()),
          folded_(graph.nodes.size(), false),
          removed_(graph.nodes.size(), false) {
        std::iota(before_reshapes_.begin(), before_reshapes_.end(), ir::ValueId{0});
        for (const ir::Node& node : graph.nodes) {
            if (node.is("reshape")) before_reshapes_[node.output()] = before_reshapes_[node.inputs.front()];
        }
        for (const std::vector<ir::NodeId>& readers : readers_) read_by_.push_back(readers.size());
    }

    void fold() {
        for (auto id = static_cast<ir::NodeId>(graph_.nodes.size()); id-- > 0;) {
            if (can_fold(id)) fold(id);
        }
        if (std::ranges::find(folded_, true) == folded_.end()) return;
        for (ir::Node& node : graph_.nodes) {
            if (node.is("dense")) read_parts(node);
        }
        ir::remove_unread(graph_);
    }

private:
    bool can_fold(ir::NodeId id) {
        const ir::Node& concat = graph_.nodes[id];
        if (removed_[id] || !concat.is("concat") || !joins_vectors(ir::NodeView(graph_, concat)))
            return false;
        std::vector<ir::NodeId>& readers = readers_[concat.output()];
        std::erase_if(readers, [&](ir::NodeId reader) { return removed_[reader]; });
        const auto reads_as_data = [&](ir::NodeId reader) {
            const ir::Node& node = graph_.nodes[reader];
            const std::size_t data = ir::NodeView(graph_, node).data_inputs();
            const std::span<const ir::ValueId> parameters = std::span(node.inputs).subspan(data);
            return node.is("dense") && std::ranges::find(parameters, concat.output()) == parameters.end();
        };
        return !readers.empty() && !border_.is_output(concat.output()) &&
               std::ranges::all_of(readers, reads_as_data);
    }

    void fold(ir::NodeId id) {
        folded_[id] = true;
        const std::vector<ir::NodeId> dense = std::move(readers_[graph_.nodes[id].output()]);
        for (const ir::ValueId part : graph_.nodes[id].inputs) {
            const ir::ValueId value = before_reshapes_[part];
            readers_[value].insert(readers_[value].end(), dense.begin(), dense.end());
            read_by_[value] += dense.size();
        }
        remove(id);
    }

    /// Removes a node that nothing reads, and those that only it has read.
    void remove(ir::NodeId id) {
        std::vector<ir::NodeId> unread{id};
        while (!unread.empty()) {
            const ir::NodeId node = unread.back();
            unread.pop_back();
            removed_[node] = true;
            for (const ir::ValueId input : graph_.nodes[node].inputs) {
                --read_by_[input];
                if (producers_[input] && is_unread(*producers_[input])) unread.push_back(*producers_[input]);
            }
        }
    }
    bool is_unread(ir::NodeId id) const {
        return std::ranges::all_of(graph_.nodes[id].outputs, [&](ir::ValueId output) {
            return read_by_[output] == 0 && !border_.is_output(output);
        });
    }

    /// Lets a dense layer read the parts of the concatenations that are folded.
    void read_parts(ir::Node& dense) const {
        std::vector<ir::ValueId> inputs;
        // Parameters that other nodes compute stay as they are.
        const auto data = static_cast<std::ptrdiff_t>(ir::NodeView(graph_, dense).data_inputs());
        const std::vector<ir::ValueId> parameters(dense.inputs.begin() + data, dense.inputs.end());
        std::vector<ir::ValueId> left(dense.inputs.begin(), dense.inputs.begin() + data);
        std::ranges::reverse(left);
        while (!left.empty()) {
            const ir::ValueId value = left.back();
            left.pop_back();
            if (!producers_[value] || !folded_[*producers_[value]]) {
                inputs.push_back(value);
                continue;
            }
            const std::vector<ir::ValueId>& parts = graph_.nodes[*producers_[value]].inputs;
            for (std::size_t i = parts.size(); i-- > 0;) left.push_back(before_reshapes_[parts[i]]);
        }
        if (dense.stated_data) dense.stated_data = static_cast<std::uint32_t>(inputs.size());
        inputs.insert(inputs.end(), parameters.begin(), parameters.end());
        dense.inputs = std::move(inputs);
    }

    ir::Graph& graph_;
    const ir::BorderValues border_;
    const std::vector<std::optional<ir::NodeId>> producers_;
    std::vector<std::vector<ir::NodeId>> readers_;  ///< by value; some may have been removed
    std::vector<std::size_t> read_by_;              ///< by value: how often, without removed nodes
    /// By value: a dense layer reads the elements, independent of their shape.
    std::vector<ir::ValueId> before_reshapes_;
    std::vector<bool> folded_;   ///< by node
    std::vector<bool> removed_;  ///< by node
};

}  // namespace

ir::Graph fold_concat_into_dense(ir::Graph graph) {
    Folding(graph).fold();
    return graph;
}

}  // namespace systole::passes
