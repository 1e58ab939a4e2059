#pragma once

#include <vector>

#include "compiler/ir/layer_kind.h"

namespace systole::operators {

/// Gemm, MatMul, QLinearMatMul and MatMulInteger with constant weights.
std::vector<ir::LayerKind> onnx_products();

}  // namespace systole::operators
