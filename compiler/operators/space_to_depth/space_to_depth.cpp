// Blocks of pixels moved into channels: an image with more channels, smaller by the block's side in height
// and width. The index of a channel of the result is row, column, channel.
#include <fmt/format.h>

#include <limits>

#include "compiler/ir/model_error.h"
#include "compiler/operators/axis_lines.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/image_axes.h"
#include "compiler/operators/strided.h"

namespace systole::operators {
namespace {

class SpaceToDepth final : public ViewOperator {
public:
    std::string_view name() const override { return "space_to_depth"; }
    std::string_view summary() const override {
        return "Blocks of pixels moved into channels: an image with more channels, smaller by the block's "
               "side in "
               "height and width. The index of a channel of the result is row, column, channel.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            {.name = "block",
             .meaning = "side of a block, in pixels",
             .absent = std::int64_t{1},
             .is_required = true,
             .minimum = 1,
             .maximum = std::numeric_limits<std::int16_t>::max()},
            image_axes_attribute()};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Onnx,
                 .name = "SpaceToDepth",
                 .keys = {{"blocksize", "`block`"}},
                 .build =
                     [](ir::LayerReader& layer) {
                         const std::int64_t block = positive_of(layer, "blocksize");
                         return append_same(layer, "space_to_depth",
                                            {{"block", block}, {"axes", onnx_image_axes()}},
                                            {input_of(layer, 0)});
                     }},
                {.format = ir::Format::Tflite,
                 .name = "SPACE_TO_DEPTH",
                 .keys = {{"block_size", "`block`"}},
                 .build = [](ir::LayerReader& layer) {
                     const std::int64_t block = positive_of(layer, "block_size");
                     return append_same(layer, "space_to_depth", {{"block", block}}, {input_of(layer, 0)});
                 }}};
    }
    std::optional<PermutedNode> permuted(const ir::NodeView& node,
                                         std::span<const std::uint32_t> axes) const override {
        if (axes.front() != 0) return std::nullopt;
        ir::Node moved = node.node();
        std::vector<std::int64_t> places = moved.integers("axes");
        for (std::int64_t& place : places) place = moved_axis(axes, static_cast<std::size_t>(place));
        moved.set("axes", places);
        return PermutedNode{std::move(moved.attributes), {axes.begin(), axes.end()}};
    }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return kept_batch(node, has_batch);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.node().inputs.size() != 1) throw ModelError("it must have exactly 1 input");
        const ImageAxes axes = image_axes_of(node);
        const ir::Shape& shape = node.input().shape;
        const auto block = static_cast<std::uint32_t>(node.node().integer("block"));
        if (shape[axes.height] % block != 0 || shape[axes.width] % block != 0) {
            throw ModelError(
                fmt::format("it takes blocks of {}x{} pixels from {}x{}; they must be a multiple", block,
                            block, shape[axes.height], shape[axes.width]));
        }
        const std::uint64_t channels = std::uint64_t{shape[axes.channels]} * block * block;
        if (channels > std::numeric_limits<std::uint32_t>::max()) throw ModelError("its result is too large");
        std::vector<std::uint32_t> extents(shape.extents().begin(), shape.extents().end());
        extents[axes.height] /= block;
        extents[axes.width] /= block;
        extents[axes.channels] = static_cast<std::uint32_t>(channels);
        return {ir::Shape(extents)};
    }

protected:
    StridedView view_of(const ir::NodeView& node) const override {
        const ImageAxes axes = image_axes_of(node);
        const auto block = static_cast<std::size_t>(node.node().integer("block"));
        const auto side = static_cast<std::ptrdiff_t>(block);
        const StridedView input = whole_view(node.input().shape);
        StridedView view;
        const auto add = [&](std::size_t extent, std::ptrdiff_t stride) {
            view.extents.push_back(extent);
            view.strides.push_back(stride);
        };
        for (std::size_t axis = 0; axis < input.extents.size(); ++axis) {
            if (axis == axes.channels) {
                add(block, input.strides[axes.height]);
                add(block, input.strides[axes.width]);
                add(input.extents[axis], input.strides[axis]);
            } else if (axis == axes.height || axis == axes.width) {
                add(input.extents[axis] / block, input.strides[axis] * side);
            } else {
                add(input.extents[axis], input.strides[axis]);
            }
        }
        return view;
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_space_to_depth() {
    return std::make_unique<SpaceToDepth>();
}

}  // namespace systole::operators
