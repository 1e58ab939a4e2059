#pragma once

#include "compiler/frontend/keras/model_config.h"

namespace systole::frontend {

/// Masking and an Embedding with `mask_zero` mask steps: layers behind them leave these out, or pass the mask
/// on to those that do. Throws ModelError for a layer that would leave steps out: masks are not computed.
void check_masks(const KerasModelConfig& model);

}  // namespace systole::frontend
