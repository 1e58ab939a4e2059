#pragma once

#include <vector>

#include "compiler/ir/layer_kind.h"

namespace systole::operators {

/// Conv, QLinearConv and ConvInteger.
std::vector<ir::LayerKind> onnx_convolutions();

}  // namespace systole::operators
