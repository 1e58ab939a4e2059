// Turns sums, differences, products and quotients with a constant for each channel into batch normalizations;
// with a constant number, those behind a node with weights, which it then becomes part of. Other constant
// numbers stay: they become lookups.
#include "compiler/passes/absorb_constants.h"

#include <cmath>
#include <optional>

#include "compiler/ir/border_values.h"
#include "compiler/operators/operator.h"

namespace systole::passes {
namespace {

/// x * scale + offset.
struct Line {
    float scale = 1.0F;
    float offset = 0.0F;
};

/// The function of x with a constant, if it is a line.
std::optional<Line> line_of(const ir::Node& node, float constant, bool constant_is_first) {
    if (node.is("add")) return Line{1.0F, constant};
    if (node.is("multiply")) return Line{constant, 0.0F};
    if (node.is("subtract")) return constant_is_first ? Line{-1.0F, constant} : Line{1.0F, -constant};
    if (node.is("divide") && !constant_is_first) return Line{1.0F / constant, 0.0F};
    return std::nullopt;
}

/// Whether a constant has one number, or one for each channel of a feature map.
bool is_by_channel(const ir::Shape& constant, const ir::Shape& map) {
    if (constant.rank() > map.rank()) return false;
    for (std::size_t i = 0; i + 1 < constant.rank(); ++i) {
        if (constant[i] != 1) return false;
    }
    const std::uint64_t elements = constant.elements();
    return elements == 1 || elements == map[map.rank() - 1];
}

class Absorption {
public:
    explicit Absorption(ir::Graph& graph)
        : graph_(graph), border_(graph), readers_(ir::readers(graph)), producers_(ir::producers(graph)) {}

    void absorb(ir::Node& node) {
        if (node.inputs.size() != 2 || node.outputs.size() != 1) return;
        const ir::NodeView view(graph_, node);
        if (view.data_inputs() != 1) return;
        const std::size_t position = view.input(0).constant ? 0 : 1;
        const ir::ValueId activation = node.inputs[1 - position];
        if (!is_absorbed(view.input(position), graph_.values[activation], view.output(), activation)) return;
        const ir::Value& constant = view.input(position);
        const std::uint32_t channels = view.output().shape[view.output().shape.rank() - 1];
        const std::span<const float> numbers = constant.constant->values<float>();
        std::vector<float> scales;
        std::vector<float> offsets;
        for (std::uint32_t c = 0; c < channels; ++c) {
            const auto line = line_of(node, numbers[numbers.size() == 1 ? 0 : c], position == 0);
            if (!line || !std::isfinite(line->scale) || !std::isfinite(line->offset)) return;
            scales.push_back(line->scale);
            offsets.push_back(line->offset);
        }
        const auto add = [&](const char* role, std::vector<float> values) {
            return graph_.add_constant(node.name + "/" + role, {channels}, DataType::Float32,
                                       std::move(values));
        };
        node.op = &operators::registry().at("batch_normalization");
        node.attributes = ir::complete_attributes(*node.op, {{"epsilon", 0.0}});
        node.inputs = {activation, add("scale", std::move(scales)), add("offset", std::move(offsets)),
                       add("mean", std::vector<float>(channels, 0.0F)),
                       add("variance", std::vector<float>(channels, 1.0F))};
    }

private:
    bool is_absorbed(const ir::Value& constant, const ir::Value& x, const ir::Value& result,
                     ir::ValueId id) const {
        const bool is_map = x.shape.rank() >= 2 && ir::is_feature_map(x.shape) && x.shape == result.shape;
        if (!is_map || x.type != DataType::Float32 || constant.type != DataType::Float32) return false;
        if (!constant.constant->is_known() || !is_by_channel(constant.shape, x.shape)) return false;
        if (constant.shape.elements() > 1) return true;
        const bool read_once = readers_[id].size() == 1 && !border_.is_output(id);
        if (!read_once || !producers_[id]) return false;
        const ir::Node& producer = graph_.nodes[*producers_[id]];
        return producer.op->has_weights() && !ir::NodeView(graph_, producer).computed_parameter();
    }

    ir::Graph& graph_;
    ir::BorderValues border_;
    std::vector<std::vector<ir::NodeId>> readers_;
    std::vector<std::optional<ir::NodeId>> producers_;
};

}  // namespace

ir::Graph absorb_constants(ir::Graph graph) {
    Absorption absorption(graph);
    for (ir::Node& node : graph.nodes) absorption.absorb(node);
    ir::remove_unread(graph);
    return graph;
}

}  // namespace systole::passes
