// Images taken apart: each place within a block of pixels becomes an image of its own.
#include <fmt/format.h>

#include "compiler/ir/model_error.h"
#include "compiler/operators/batch_blocks.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/strided.h"

namespace systole::operators {
namespace {

ir::Results read_space_to_batch(ir::LayerReader& layer) {
    const BatchBlocks blocks = batch_blocks_of(layer);
    ir::ValueId value = input_of(layer, 0);
    const std::vector<std::int64_t> none(blocks.before.size(), 0);
    if (blocks.before != none || blocks.after != none) {
        value = append_same(layer, "pad",
                            {{"before", blocks.before},
                             {"after", blocks.after},
                             {"mode", std::string("constant")},
                             {"value", 0.0}},
                            {value});
    }
    return append_same(layer, "space_to_batch", {{"block", blocks.sides}}, {value});
}

class SpaceToBatch final : public ViewOperator {
public:
    std::string_view name() const override { return "space_to_batch"; }
    std::string_view summary() const override {
        return "Images taken apart: each place within a block of pixels becomes an image of its own.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{block_attribute()};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Tflite, .name = "SPACE_TO_BATCH_ND", .build = read_space_to_batch}};
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        const std::vector<std::uint32_t> sides = block_sides(node);
        const ir::Shape& shape = node.input().shape;
        std::vector<std::uint32_t> extents(shape.extents().begin(), shape.extents().end());
        std::uint64_t images = extents[0];
        for (std::size_t i = 0; i < sides.size(); ++i) {
            if (extents[i + 1] % sides[i] != 0) {
                throw ModelError(
                    fmt::format("it cuts {} into blocks of {} along axis {}; the extent must be a multiple",
                                to_text(shape), sides[i], i + 1));
            }
            extents[i + 1] /= sides[i];
            // No overflow: the result has as many elements as the input.
            images *= sides[i];
        }
        extents[0] = static_cast<std::uint32_t>(images);
        return {ir::Shape(extents)};
    }

protected:
    StridedView view_of(const ir::NodeView& node) const override {
        const std::vector<std::uint32_t> sides = block_sides(node);
        const StridedView input = whole_view(node.input().shape);
        StridedView view;
        for (std::size_t i = 0; i < sides.size(); ++i) {
            view.extents.push_back(sides[i]);
            view.strides.push_back(input.strides[i + 1]);
        }
        for (std::size_t axis = 0; axis < input.extents.size(); ++axis) {
            const std::uint32_t side = axis == 0 || axis > sides.size() ? 1 : sides[axis - 1];
            view.extents.push_back(input.extents[axis] / side);
            view.strides.push_back(input.strides[axis] * static_cast<std::ptrdiff_t>(side));
        }
        return view;
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_space_to_batch() {
    return std::make_unique<SpaceToBatch>();
}

}  // namespace systole::operators
