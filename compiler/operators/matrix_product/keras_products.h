#pragma once

#include <vector>

#include "compiler/ir/layer_kind.h"

namespace systole::operators {

/// Keras' Dot and EinsumDense.
std::vector<ir::LayerKind> keras_product_layers();

}  // namespace systole::operators
