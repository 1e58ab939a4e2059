// Channels moved into blocks of pixels: an image with fewer channels, larger by the block's side in height
// and width.
#include <fmt/format.h>

#include <limits>

#include "compiler/ir/model_error.h"
#include "compiler/operators/axis_lines.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/image_axes.h"
#include "compiler/operators/strided.h"

namespace systole::operators {
namespace {

ir::Results read_onnx_depth_to_space(ir::LayerReader& layer) {
    const std::string mode = layer.text("mode", "DCR");
    if (mode != "DCR" && mode != "CRD") layer.fail("mode", "it must be DCR or CRD");
    const std::int64_t block = positive_of(layer, "blocksize");
    return append_same(
        layer, "depth_to_space",
        {{"block", block}, {"channel_first", std::int64_t{mode == "CRD"}}, {"axes", onnx_image_axes()}},
        {input_of(layer, 0)});
}

class DepthToSpace final : public ViewOperator {
public:
    std::string_view name() const override { return "depth_to_space"; }
    std::string_view summary() const override {
        return "Channels moved into blocks of pixels: an image with fewer channels, larger by the block's "
               "side in "
               "height and width.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            {.name = "block",
             .meaning = "side of a block, in pixels",
             .absent = std::int64_t{1},
             .is_required = true,
             .minimum = 1,
             .maximum = std::numeric_limits<std::int16_t>::max()},
            {.name = "channel_first",
             .meaning = "the index of an input channel: 0: row, column, channel (DCR); 1: channel, row, "
                        "column (CRD)",
             .absent = std::int64_t{0},
             .minimum = 0,
             .maximum = 1},
            image_axes_attribute()};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Onnx,
                 .name = "DepthToSpace",
                 .keys = {{"blocksize", "`block`"}, {"mode", "`channel_first`: DCR or CRD"}},
                 .build = read_onnx_depth_to_space},
                {.format = ir::Format::Tflite,
                 .name = "DEPTH_TO_SPACE",
                 .keys = {{"block_size", "`block`"}},
                 .build = [](ir::LayerReader& layer) {
                     const std::int64_t block = positive_of(layer, "block_size");
                     return append_same(layer, "depth_to_space", {{"block", block}}, {input_of(layer, 0)});
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
        const std::uint64_t block = block_of(node);
        if (shape[axes.channels] % (block * block) != 0) {
            throw ModelError(
                fmt::format("it makes blocks of {}x{} pixels from {} channels; they must be a multiple",
                            block, block, shape[axes.channels]));
        }
        std::vector<std::uint32_t> extents(shape.extents().begin(), shape.extents().end());
        for (const std::size_t axis : {axes.height, axes.width}) {
            if (block * extents[axis] > std::numeric_limits<std::uint32_t>::max()) {
                throw ModelError("its result is too large");
            }
            extents[axis] *= static_cast<std::uint32_t>(block);
        }
        extents[axes.channels] /= static_cast<std::uint32_t>(block * block);
        return {ir::Shape(extents)};
    }

protected:
    StridedView view_of(const ir::NodeView& node) const override {
        const ImageAxes axes = image_axes_of(node);
        const auto block = static_cast<std::size_t>(block_of(node));
        const bool channel_first = node.node().integer("channel_first") != 0;
        const StridedView input = whole_view(node.input().shape);
        const auto channels = static_cast<std::ptrdiff_t>(node.output().shape[axes.channels]);
        const auto side = static_cast<std::ptrdiff_t>(block);
        const std::ptrdiff_t channel = input.strides[axes.channels];
        const std::ptrdiff_t column = channel * (channel_first ? 1 : channels);
        const std::ptrdiff_t row = column * side;
        StridedView view;
        const auto add = [&](std::size_t extent, std::ptrdiff_t stride) {
            view.extents.push_back(extent);
            view.strides.push_back(stride);
        };
        for (std::size_t axis = 0; axis < input.extents.size(); ++axis) {
            if (axis == axes.channels) {
                add(static_cast<std::size_t>(channels), channel_first ? channel * side * side : channel);
                continue;
            }
            add(input.extents[axis], input.strides[axis]);
            if (axis == axes.height) add(block, row);
            if (axis == axes.width) add(block, column);
        }
        return view;
    }

private:
    static std::uint64_t block_of(const ir::NodeView& node) {
        return static_cast<std::uint64_t>(node.node().integer("block"));
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_depth_to_space() {
    return std::make_unique<DepthToSpace>();
}

}  // namespace systole::operators
