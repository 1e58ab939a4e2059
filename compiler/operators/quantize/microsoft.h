#pragma once

#include <vector>

#include "compiler/ir/layer_kind.h"

namespace systole::operators {

/// The operators on integers that onnxruntime adds to ONNX's own (domain com.microsoft). Each becomes float
/// work between `dequantize` and `quantize`.
std::vector<ir::LayerKind> microsoft_layers();

}  // namespace systole::operators
