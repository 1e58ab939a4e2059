#pragma once

#include "compiler/graph/graph.h"

namespace systole::validate {

/// The same network with 8-bit activations throughout.
graph::Graph with_8_bit_activations(const graph::Graph& graph);

}  // namespace systole::validate
