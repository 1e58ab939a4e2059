#pragma once

#include "compiler/ir/layer_kind.h"

namespace systole::operators {

/// Einsum of ONNX: of two operands, transpositions and a product of matrices, or of elements where nothing is
/// summed; of more, one after the other.
ir::LayerKind onnx_einsum();

}  // namespace systole::operators
