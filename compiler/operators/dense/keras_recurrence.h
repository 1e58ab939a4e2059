#pragma once

#include <vector>

#include "compiler/ir/layer_kind.h"

namespace systole::operators {

/// LSTM, GRU and SimpleRNN. A Bidirectional layer is two of them, which the reader builds and combines.
std::vector<ir::LayerKind> keras_recurrences();

}  // namespace systole::operators
