#include "compiler/passes/scale_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "compiler/ir/model_error.h"

namespace systole::passes {
namespace {

constexpr std::size_t image_rank = 4;

/// Scales the shapes of a network, from its inputs on.
class Scaling {
public:
    Scaling(ir::Graph& graph, std::uint32_t factor) : graph_(graph), factor_(factor) {
        for (const ir::Value& value : graph.values) elements_before_.push_back(value.shape.elements());
    }

    void scale_inputs() {
        const std::vector<std::vector<ir::NodeId>> readers = ir::readers(graph_);
        for (const ir::ValueId id : graph_.inputs) {
            ir::Value& input = graph_.values[id];
            if (input.shape.rank() == image_rank) {
                input.shape = scaled_image(input.shape);
                continue;
            }
            const bool becomes_image = std::ranges::all_of(readers[id], [&](ir::NodeId reader) {
                const ir::Node& node = graph_.nodes[reader];
                return node.is("reshape") && node.integers("shape").size() == image_rank;
            });
            if (input.shape.rank() != 2 || readers[id].empty() || !becomes_image) {
                throw ModelError(fmt::format("input \"{}\": its shape is {}; only images can be larger",
                                             input.name, to_text(input.shape)));
            }
            input.shape = ir::vector_shape(grown(input.shape[1], factor_ * factor_));
        }
    }

    /// Scales what belongs to the node itself: the shape of a reshape, the weights of a dense layer.
    void scale(ir::Node& node) {
        if (node.is("reshape")) return scale_reshape(node);
        if (node.is("dense")) scale_dense(node);
    }

private:
    /// The product, as an extent.
    std::uint32_t grown(std::uint64_t extent, std::uint32_t factor) const {
        const std::uint64_t result = extent * factor;
        if (result > ir::maximum_elements) {
            throw ModelError(
                fmt::format("images {} times as wide and as high have too many elements", factor_));
        }
        return static_cast<std::uint32_t>(result);
    }

    ir::Shape scaled_image(const ir::Shape& shape) const {
        return {shape[0], grown(shape[1], factor_), grown(shape[2], factor_), shape[3]};
    }

    void scale_reshape(ir::Node& node) {
        const ir::ValueId input = node.inputs.front();
        const std::uint64_t before = elements_before_[input];
        const std::uint64_t now = graph_.values[input].shape.elements();
        if (now == before) return;
        std::vector<std::int64_t> shape = node.integers("shape");
        const std::uint32_t area = factor_ * factor_;
        if (shape.size() == 2 && shape[0] == 1) {
            shape[1] = static_cast<std::int64_t>(now);
        } else if (shape.size() == image_rank && now == before * area) {
            shape[1] = grown(static_cast<std::uint64_t>(shape[1]), factor_);
            shape[2] = grown(static_cast<std::uint64_t>(shape[2]), factor_);
        } else if (shape.size() == image_rank - 1 && now == before * area) {
            shape[1] = grown(static_cast<std::uint64_t>(shape[1]), area);
        } else {
            throw ModelError(fmt::format("layer \"{}\": its shape {} cannot grow with the images", node.name,
                                         ir::to_text(ir::Attribute(shape))));
        }
        node.set("shape", shape);
    }

    void scale_dense(const ir::Node& node) {
        std::uint64_t elements = 0;
        const std::size_t inputs = ir::NodeView(graph_, node).data_inputs();
        for (std::size_t i = 0; i < inputs; ++i) elements += graph_.values[node.inputs[i]].shape.elements();
        ir::Value& weights = graph_.values[node.inputs.at(inputs)];
        // The shape of weights that another node computes follows from that node.
        if (weights.constant) weights.shape = {grown(elements, 1), weights.shape[1]};
    }

    ir::Graph& graph_;
    const std::uint32_t factor_;
    std::vector<std::uint64_t> elements_before_;
};

}  // namespace

ir::Graph scale_images(ir::Graph graph, std::uint32_t factor) {
    if (factor == 1) return graph;
    if (graph.has_weights) throw ModelError("images of a network with weights keep their size");
    Scaling scaling(graph, factor);
    scaling.scale_inputs();
    for (ir::NodeId id = 0; id < graph.nodes.size(); ++id) {
        scaling.scale(graph.nodes[id]);
        ir::infer_shapes_of(graph, id);
    }
    if (const auto fault = ir::find_fault(graph)) throw ModelError(*fault);
    return graph;
}

}  // namespace systole::passes
