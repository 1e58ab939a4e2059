#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/ir/feature_map.h"
#include "compiler/operators/operator.h"

/// Operators that work on the last axes of their inputs alone, the operator's own: the matrices or images
/// that lie along the axes before them are computed each by itself.
namespace systole::operators {

/// The axes of a shape before the last `own`. Throws ModelError if it has fewer than these.
ir::Shape leading_axes(const ir::Shape& shape, std::size_t own);
/// The axes before the last `own` of all inputs, broadcast to one shape by NumPy's rule. Throws ModelError if
/// there is none, or unless the node has `inputs` inputs.
ir::Shape broadcast_leading_axes(const ir::NodeView& node, std::size_t inputs, std::size_t own);
/// The shape with these axes and those of the operator behind them.
ir::Shape with_leading_axes(const ir::Shape& leading, std::span<const std::uint32_t> own);

/// By index of the leading axes of the result, row-major: the number of the matrix or image of an input that
/// is met there. `own` are the last axes of the input and of the result.
std::vector<std::size_t> leading_blocks(const ir::NodeView& node, std::size_t input, std::size_t own);

/// The axes of an image: height, width and channels.
inline constexpr std::size_t image_extents = 3;
/// The image of the last three axes of a shape, which it must have.
ir::FeatureMap last_image(const ir::Shape& shape);

/// The elements of an input for one inference of a call.
const float* input_of_inference(const FloatCall& call, std::size_t input, std::uint32_t inference);

}  // namespace systole::operators
