// The input repeated as a whole along each axis.
#include <fmt/format.h>

#include <limits>

#include "compiler/ir/model_error.h"
#include "compiler/operators/axis_lines.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/strided.h"

namespace systole::operators {
namespace {

using Integers = std::vector<std::int64_t>;

ir::Results append_tile(ir::LayerReader& layer) {
    return append_same(layer, "tile", {{"repeats", constant_integers(layer, 1)}}, {input_of(layer, 0)});
}

class Tile final : public ViewOperator {
public:
    std::string_view name() const override { return "tile"; }
    std::string_view summary() const override { return "The input repeated as a whole along each axis."; }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            {.name = "repeats",
             .meaning = "how often, by axis",
             .absent = Integers{},
             .is_required = true,
             .minimum = 0,
             .maximum = std::numeric_limits<std::int32_t>::max()}};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Onnx, .name = "Tile", .build = append_tile},
                {.format = ir::Format::Tflite, .name = "TILE", .build = append_tile}};
    }
    std::optional<PermutedNode> permuted(const ir::NodeView& node,
                                         std::span<const std::uint32_t> axes) const override {
        return permuted_lists(node, axes, {"repeats"});
    }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return kept_batch(node, has_batch, node.node().integers("repeats").front() == 1);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.node().inputs.size() != 1) throw ModelError("it must have exactly 1 input");
        const ir::Shape& shape = node.input().shape;
        const Integers& repeats = node.node().integers("repeats");
        if (repeats.size() != shape.rank()) {
            throw ModelError(fmt::format("its repeats are {}; there must be one for each axis of {}",
                                         ir::to_text(ir::Attribute(repeats)), to_text(shape)));
        }
        std::vector<std::uint32_t> extents;
        for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
            const std::int64_t extent = repeats[axis] * shape[axis];
            if (extent > std::numeric_limits<std::uint32_t>::max()) {
                throw ModelError(
                    fmt::format("axis {} of its result has {} elements; that is too large", axis, extent));
            }
            extents.push_back(static_cast<std::uint32_t>(extent));
        }
        return {ir::Shape(extents)};
    }

protected:
    /// Each axis is two: the repetitions, which do not move, and the elements.
    StridedView view_of(const ir::NodeView& node) const override {
        const StridedView input = whole_view(node.input().shape);
        StridedView view;
        for (std::size_t axis = 0; axis < input.extents.size(); ++axis) {
            view.extents.push_back(static_cast<std::size_t>(node.node().integers("repeats")[axis]));
            view.strides.push_back(0);
            view.extents.push_back(input.extents[axis]);
            view.strides.push_back(input.strides[axis]);
        }
        return view;
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_tile() {
    return std::make_unique<Tile>();
}

}  // namespace systole::operators
