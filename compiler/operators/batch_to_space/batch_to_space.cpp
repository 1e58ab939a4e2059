// Images put together: the images of a group become the places within blocks of pixels.
#include <fmt/format.h>

#include <limits>

#include "compiler/ir/model_error.h"
#include "compiler/operators/batch_blocks.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/strided.h"

namespace systole::operators {
namespace {

using Integers = std::vector<std::int64_t>;

ir::Results read_batch_to_space(ir::LayerReader& layer) {
    const BatchBlocks blocks = batch_blocks_of(layer);
    const ir::ValueId whole =
        append_same(layer, "batch_to_space", {{"block", blocks.sides}}, {input_of(layer, 0)});
    const ir::Shape shape = layer.value(whole).shape;
    Integers count;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        count.push_back(shape[axis] - blocks.before[axis] - blocks.after[axis]);
        if (count.back() < 1) layer.fail(fmt::format("its crops remove all of axis {}", axis));
    }
    if (count == extents_of(shape)) return whole;
    return append_same(layer, "strided_slice",
                       {{"first", blocks.before}, {"step", Integers(shape.rank(), 1)}, {"count", count}},
                       {whole});
}

class BatchToSpace final : public ViewOperator {
public:
    std::string_view name() const override { return "batch_to_space"; }
    std::string_view summary() const override {
        return "Images put together: the images of a group become the places within blocks of pixels.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{block_attribute()};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Tflite, .name = "BATCH_TO_SPACE_ND", .build = read_batch_to_space}};
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        const std::vector<std::uint32_t> sides = block_sides(node);
        const ir::Shape& shape = node.input().shape;
        std::vector<std::uint32_t> extents(shape.extents().begin(), shape.extents().end());
        for (std::size_t i = 0; i < sides.size(); ++i) {
            if (extents[0] % sides[i] != 0) {
                throw ModelError(
                    fmt::format("it puts the images of {} into blocks of {}; they must be a multiple",
                                to_text(shape), sides[i]));
            }
            extents[0] /= sides[i];
            const std::uint64_t extent = std::uint64_t{extents[i + 1]} * sides[i];
            if (extent > std::numeric_limits<std::uint32_t>::max())
                throw ModelError("its result is too large");
            extents[i + 1] = static_cast<std::uint32_t>(extent);
        }
        return {ir::Shape(extents)};
    }

protected:
    StridedView view_of(const ir::NodeView& node) const override {
        const std::vector<std::uint32_t> sides = block_sides(node);
        const StridedView input = whole_view(node.input().shape);
        const std::size_t images = node.output().shape[0];
        StridedView view{.extents = {images}, .strides = {input.strides[0]}};
        // The last side changes fastest from image to image.
        auto stride = input.strides[0] * static_cast<std::ptrdiff_t>(input.extents[0]);
        for (std::size_t axis = 1; axis < input.extents.size(); ++axis) {
            view.extents.push_back(input.extents[axis]);
            view.strides.push_back(input.strides[axis]);
            if (axis > sides.size()) continue;
            stride /= static_cast<std::ptrdiff_t>(sides[axis - 1]);
            view.extents.push_back(sides[axis - 1]);
            view.strides.push_back(stride);
        }
        return view;
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_batch_to_space() {
    return std::make_unique<BatchToSpace>();
}

}  // namespace systole::operators
