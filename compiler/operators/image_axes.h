#pragma once

#include <array>
#include <cstddef>

#include "compiler/ir/graph.h"

namespace systole::operators {

/// The axes of an image in a tensor of four axes, of which the first is the batch.
struct ImageAxes {
    std::size_t height = 1;
    std::size_t width = 2;
    std::size_t channels = 3;
};

/// The attribute `axes`: height, width and channels.
ir::AttributeDeclaration image_axes_attribute();
/// Throws ModelError unless the input of the node has four axes and `axes` has each but the first once.
ImageAxes image_axes_of(const ir::NodeView& node);
/// The value of `axes` for tensors of ONNX, whose channels are second.
std::vector<std::int64_t> onnx_image_axes();

}  // namespace systole::operators
