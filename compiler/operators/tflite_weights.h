#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "compiler/ir/layer_kind.h"
#include "compiler/ir/window.h"

/// Reading of TFLite's nodes with weights. Weights of files are [output channel][kernel row][kernel
/// column][input channel], or [1][kernel row][kernel column][output channel] if the convolution is depthwise;
/// the graph's order is that of the operators. uint8 becomes int8, with 128 subtracted from numbers and zero
/// point.
namespace systole::operators {

ir::LayerKind tflite_convolution();
ir::LayerKind tflite_depthwise_convolution();
ir::LayerKind tflite_dense();
ir::LayerKind tflite_transposed_convolution();
/// BATCH_MATMUL: with a constant, rows meet weights; of two computed matrices, a `matrix_product`.
ir::LayerKind tflite_matrix_product();

/// The keys of nodes with windows: padding and strides.
std::vector<ir::LayerKey> tflite_window_keys();
/// The windows of a node on its first input.
ir::Window tflite_window(const ir::LayerReader& layer, const std::array<std::uint32_t, 2>& kernel,
                         const std::array<std::uint32_t, 2>& dilation = {1, 1});

}  // namespace systole::operators
