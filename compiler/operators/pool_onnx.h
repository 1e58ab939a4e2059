#pragma once

#include <string_view>
#include <vector>

#include "compiler/ir/layer_kind.h"

namespace systole::operators {

/// ONNX's nodes of pooling: those over a window and those over the whole image.
std::vector<ir::LayerKind> onnx_max_pools();
std::vector<ir::LayerKind> onnx_average_pools();

}  // namespace systole::operators
