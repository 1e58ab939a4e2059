#pragma once

#include "compiler/ir/layer_kind.h"

namespace systole::operators::sequence_lstm {

/// UNIDIRECTIONAL_SEQUENCE_LSTM.
ir::LayerKind tflite_sequence_lstm();

}  // namespace systole::operators::sequence_lstm
