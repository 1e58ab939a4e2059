#pragma once

#include <vector>

#include "compiler/ir/layer_kind.h"

namespace systole::operators {

/// Keras' MultiHeadAttention, GroupQueryAttention, Attention and AdditiveAttention.
std::vector<ir::LayerKind> keras_attention_layers();

}  // namespace systole::operators
