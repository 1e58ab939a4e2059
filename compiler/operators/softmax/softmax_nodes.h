#pragma once

#include <string_view>

#include "compiler/ir/layer_kind.h"

namespace systole::operators {

/// Softmax and log_softmax of ONNX. Before operator set 13, `axis` is the first of those that are one line
/// together.
ir::LayerKind onnx_softmax(std::string_view op, const char* name);

}  // namespace systole::operators
