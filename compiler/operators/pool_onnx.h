#pragma once

#include <string_view>
#include <vector>

#include "compiler/ir/layer_kind.h"

namespace systole::operators {

/// ONNX's nodes of pooling: those over a window and those over the whole image.
std::vector<ir::LayerKind> onnx_max_pools();
std::vector<ir::LayerKind> onnx_average_pools();

/// The keys of nodes that pool over a window, with those of `own`.
std::vector<ir::LayerKey> onnx_pool_keys(std::vector<ir::LayerKey> own);

}  // namespace systole::operators
