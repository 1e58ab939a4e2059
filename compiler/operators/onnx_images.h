#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/layer_kind.h"
#include "compiler/ir/window.h"

/// Reading of ONNX nodes that work on images. Their tensors have the channels second; the operators of images
/// have them last.
namespace systole::operators {

/// The image that a tensor of ONNX holds, [1, channels, width] or [1, channels, height, width], with the
/// channels last. Fails for other tensors.
ir::ValueId channels_last(ir::LayerReader& layer, ir::ValueId tensor);
/// The tensor of ONNX that an image is, with as many extents as the input had.
ir::ValueId channels_first(ir::LayerReader& layer, ir::ValueId image, std::size_t rank);

/// A constant of ONNX with its axes in another order; what is known about its quantization goes along.
ir::ValueId permuted_constant(ir::LayerReader& layer, ir::ValueId constant,
                              const std::vector<std::int64_t>& permutation);
/// The weights of a convolution, [output][input][width] or [output][input][height][width] in ONNX, as
/// [height] [width][input][output].
ir::ValueId kernel_last(ir::LayerReader& layer, ir::ValueId weights);
/// An input that must be a constant; `role` names it in messages.
ir::ValueId constant_input(const ir::LayerReader& layer, std::size_t index, const char* role);

/// A number that stands for false (0) or true.
bool onnx_flag(const ir::LayerReader& layer, const char* key, bool absent);

/// The keys of nodes with windows.
std::vector<ir::LayerKey> onnx_window_keys();
/// The windows of a node with this kernel over an image with the channels last, by `strides`, `pads`,
/// `auto_pad`, `dilations` and, if the kind has it, `ceil_mode`.
ir::Window onnx_window(const ir::LayerReader& layer, const ir::FeatureMap& image,
                       const std::vector<std::uint32_t>& kernel, bool has_ceil_mode);
/// The numbers of a key, one for each of `count` axes, each at least `least`; `absent` without the key.
std::vector<std::uint32_t> onnx_extents(const ir::LayerReader& layer, const char* key, std::size_t count,
                                        std::uint32_t absent, std::uint32_t least);
/// The kernel of a pooling node, by `kernel_shape`.
std::vector<std::uint32_t> onnx_kernel(const ir::LayerReader& layer, std::size_t spatial);

}  // namespace systole::operators
