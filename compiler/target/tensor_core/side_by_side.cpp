#include "compiler/target/tensor_core/side_by_side.h"

#include <algorithm>
#include <array>
#include <utility>

#include "compiler/ir/feature_map.h"
#include "compiler/ir/window.h"
#include "compiler/target/tensor_core/layout.h"

namespace systole::tensor_core {
namespace {

using ir::NodeView;
using ir::Value;
using ir::ValueId;

/// Pixels lie side by side if that takes at most one in so many bytes: windows of lines cost work between
/// lanes.
constexpr std::uint64_t least_padding_saved = 2;

class SideBySide {
public:
    SideBySide(const ir::Graph& graph, const std::vector<std::vector<ir::NodeId>>& readers,
               std::uint64_t lanes)
        : graph_(graph), readers_(readers), lanes_(lanes) {}

    std::map<ValueId, MatrixShape> find() && {
        for (const ValueId input : graph_.inputs) {
            if (ir::is_replaced(graph_, input)) continue;  // it lies as the output does that replaces it
            auto none = side_by_side_;
            if (!find_lines(input)) side_by_side_ = std::move(none);
            find_row(input);
            find_reshaped(input);
        }
        return std::move(side_by_side_);
    }

private:
    /// Whether the pixels of a line lie side by side: if that pads much less, and if convolutions alone read
    /// the image, or element-wise work on it of which the same holds.
    bool find_lines(ValueId id) {
        const Value& value = graph_.values[id];
        if (!ir::is_feature_map(value.shape) || !value.has_batch() || ir::is_output(graph_, id)) return false;
        const ir::FeatureMap map = ir::feature_map(value.shape);
        const MatrixShape lines{map.height, std::uint64_t{map.width} * map.channels};
        if (!pads_less(lines, value)) return false;
        const auto reads = [&](ir::NodeId reader) { return can_read_lines(graph_.nodes[reader], id); };
        if (readers_[id].empty() || !std::ranges::all_of(readers_[id], reads)) return false;
        side_by_side_.emplace(id, lines);
        return true;
    }

    /// All elements lie side by side if only dense layers read them.
    void find_row(ValueId id) {
        const Value& value = graph_.values[id];
        const MatrixShape row{1, value.shape.elements()};
        if (!value.has_batch() || !pads_less(row, value) || !only_dense_reads(id)) return;
        side_by_side_.emplace(id, row);
    }

    /// Elements lie as all that reads them wants them: in the rows of the same reshape.
    void find_reshaped(ValueId id) {
        const Value& value = graph_.values[id];
        if (readers_[id].empty() || side_by_side_.contains(id) || ir::is_output(graph_, id)) return;
        const auto wanted = [&](ir::NodeId reader) {
            return matrix_of(graph_.values[graph_.nodes[reader].outputs[0]].shape);
        };
        const MatrixShape shape = wanted(readers_[id].front());
        const auto wants_it = [&](ir::NodeId reader) {
            return graph_.nodes[reader].is("reshape") && wanted(reader) == shape;
        };
        if (pads_less(shape, value) && std::ranges::all_of(readers_[id], wants_it))
            side_by_side_.emplace(id, shape);
    }

    bool pads_less(const MatrixShape& shape, const Value& value) const {
        const auto bytes = [&](const MatrixShape& each) {
            const std::array<std::uint64_t, 2> extents{each.rows, each.columns};
            return padded(extents, Element::Word, lanes_).bytes;
        };
        return bytes(shape) * least_padding_saved <= bytes(matrix_of(value.shape));
    }

    bool only_dense_reads(ValueId id) const {
        if (ir::is_output(graph_, id) || readers_[id].empty()) return false;
        return std::ranges::all_of(readers_[id], [&](ir::NodeId reader) {
            const ir::Node& node = graph_.nodes[reader];
            if (node.is("reshape")) return only_dense_reads(node.outputs[0]);
            return node.is("dense") && NodeView{graph_, node}.data_inputs() == 1 && node.inputs[0] == id &&
                   std::ranges::count(node.inputs, id) == 1;
        });
    }

    bool can_read_lines(const ir::Node& node, ValueId id) {
        if (node.is("convolution")) {
            return node.inputs[0] == id && node.inputs[1] != id && node.integer("groups") == 1 &&
                   graph_.values[node.inputs[1]].constant && ir::window_of(node) != ir::Window{};
        }
        if (!node.is("word_chain")) return false;
        const Value& result = graph_.values[node.outputs[0]];
        if (!(result.shape == graph_.values[id].shape)) return false;
        for (const ValueId input : node.inputs) {
            const Value& value = graph_.values[input];
            if (input != id && !(value.constant && value.shape.elements() == 1)) return false;
        }
        return find_lines(node.outputs[0]);
    }

    const ir::Graph& graph_;
    const std::vector<std::vector<ir::NodeId>>& readers_;
    const std::uint64_t lanes_;
    std::map<ValueId, MatrixShape> side_by_side_;
};

}  // namespace

std::map<ValueId, MatrixShape> values_side_by_side(const ir::Graph& graph,
                                                   const std::vector<std::vector<ir::NodeId>>& readers,
                                                   std::uint64_t lanes) {
    return SideBySide(graph, readers, lanes).find();
}

}  // namespace systole::tensor_core
