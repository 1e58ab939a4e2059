// The input repeated along axes of extent 1, and along new axes before the first, by NumPy's broadcasting.
#include <limits>

#include "compiler/ir/model_error.h"
#include "compiler/operators/axis_lines.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/strided.h"

namespace systole::operators {
namespace {

ir::Results read_onnx_expand(ir::LayerReader& layer) {
    const ir::ValueId input = input_of(layer, 0);
    const ir::Shape asked = shape_from(layer, constant_integers(layer, 1));
    // The input may also be the larger one.
    const ir::Shape shape = broadcast_shape(layer.value(input).shape, asked);
    if (shape == layer.value(input).shape) return input;
    return append_same(layer, "expand", {{"shape", extents_of(shape)}}, {input});
}

ir::Results read_tflite_broadcast(ir::LayerReader& layer) {
    const ir::ValueId input = input_of(layer, 0);
    const ir::Shape shape = shape_from(layer, constant_integers(layer, 1));
    return append_same(layer, "expand", {{"shape", extents_of(shape)}}, {input});
}

/// Keras RepeatVector: a vector, n times.
ir::Results read_keras_repeat_vector(ir::LayerReader& layer) {
    const ir::ValueId input = layer.input();
    const ir::Shape shape = layer.value(input).shape;
    if (shape.rank() != 2) layer.fail("its input must have one axis behind the batch");
    const std::uint32_t times = layer.positive("n");
    const ir::ValueId row = append_shape(layer, input, ir::Shape{shape[0], 1, shape[1]});
    return append_same(layer, "expand", {{"shape", extents_of(ir::Shape{shape[0], times, shape[1]})}}, {row});
}

class Expand final : public ViewOperator {
public:
    std::string_view name() const override { return "expand"; }
    std::string_view summary() const override {
        return "The input repeated along axes of extent 1, and along new axes before the first.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            {.name = "shape",
             .meaning = "the shape of the result",
             .absent = std::vector<std::int64_t>{},
             .is_required = true,
             .minimum = 0,
             .maximum = std::numeric_limits<std::uint32_t>::max()}};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Onnx, .name = "Expand", .build = read_onnx_expand},
                {.format = ir::Format::Tflite, .name = "BROADCAST_TO", .build = read_tflite_broadcast},
                {.format = ir::Format::Keras,
                 .name = "RepeatVector",
                 .keys = {{"n", "how often"}},
                 .build = read_keras_repeat_vector}};
    }
    std::optional<PermutedNode> permuted(const ir::NodeView& node,
                                         std::span<const std::uint32_t> axes) const override {
        // New axes before the first have no place in the input.
        if (node.output().shape.rank() != axes.size()) return std::nullopt;
        return permuted_lists(node, axes, {"shape"});
    }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        ir::Node one = node.node();
        std::vector<std::int64_t> shape = one.integers("shape");
        if (shape.size() != node.input().shape.rank()) return std::nullopt;
        shape.front() = 1;
        one.set("shape", shape);
        return kept_batch(ir::NodeView(node.graph(), one), has_batch);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.node().inputs.size() != 1) throw ModelError("it must have exactly 1 input");
        std::vector<std::uint32_t> extents;
        for (const std::int64_t extent : node.node().integers("shape")) {
            extents.push_back(static_cast<std::uint32_t>(extent));
        }
        const ir::Shape shape(extents);
        broadcast_view(node.input().shape, shape);
        return {shape};
    }

protected:
    StridedView view_of(const ir::NodeView& node) const override {
        return broadcast_view(node.input().shape, node.output().shape);
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_expand() {
    return std::make_unique<Expand>();
}

}  // namespace systole::operators
