#pragma once

#include <vector>

#include "compiler/ir/layer_kind.h"

namespace systole::operators {

/// Conv2DTranspose and Conv1DTranspose.
std::vector<ir::LayerKind> keras_transposed_convolutions();

}  // namespace systole::operators
