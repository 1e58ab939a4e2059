#pragma once

#include <vector>

#include "compiler/ir/layer_kind.h"

namespace systole::operators {

/// LSTM, GRU and RNN.
std::vector<ir::LayerKind> onnx_recurrences();

}  // namespace systole::operators
