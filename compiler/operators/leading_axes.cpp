#include "compiler/operators/leading_axes.h"

#include <fmt/format.h>

#include "base/message_text.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/strided.h"

namespace systole::operators {

ir::Shape leading_axes(const ir::Shape& shape, std::size_t own) {
    if (shape.rank() < own) {
        throw ModelError(
            fmt::format("it has an input of {}; it must have at least {} axes", to_text(shape), own));
    }
    return ir::Shape(shape.extents().first(shape.rank() - own));
}

ir::Shape broadcast_leading_axes(const ir::NodeView& node, std::size_t inputs, std::size_t own) {
    const std::size_t given = node.node().inputs.size();
    if (given != inputs) {
        throw ModelError(fmt::format("it has {}; it must have exactly {}", counted(given, "input"), inputs));
    }
    ir::Shape shape = leading_axes(node.input(0).shape, own);
    for (std::size_t i = 1; i < inputs; ++i)
        shape = broadcast_shape(shape, leading_axes(node.input(i).shape, own));
    return shape;
}

ir::Shape with_leading_axes(const ir::Shape& leading, std::span<const std::uint32_t> own) {
    std::vector<std::uint32_t> extents(leading.extents().begin(), leading.extents().end());
    extents.insert(extents.end(), own.begin(), own.end());
    return ir::Shape(extents);
}

std::vector<std::size_t> leading_blocks(const ir::NodeView& node, std::size_t input, std::size_t own) {
    StridedView view =
        broadcast_view(leading_axes(node.input(input).shape, own), leading_axes(node.output().shape, own));
    // Rows of one block.
    view.extents.push_back(1);
    view.strides.push_back(0);
    std::vector<std::size_t> blocks;
    for_each_row(view, [&](std::ptrdiff_t offset) { blocks.push_back(static_cast<std::size_t>(offset)); });
    return blocks;
}

ir::FeatureMap last_image(const ir::Shape& shape) {
    const std::span<const std::uint32_t> extents = shape.extents().last(image_extents);
    return {.height = extents[0], .width = extents[1], .channels = extents[2]};
}

const float* input_of_inference(const FloatCall& call, std::size_t input, std::uint32_t inference) {
    const ir::Value& value = call.node.input(input);
    return call.inputs[input] + (value.constant ? 0 : inference * value.shape.elements());
}

}  // namespace systole::operators
