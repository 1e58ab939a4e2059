#pragma once

#include "compiler/ir/graph.h"

namespace systole::validate {

/// The same network with 8-bit activations throughout.
ir::Graph with_8_bit_activations(const ir::Graph& graph);

}  // namespace systole::validate
