#pragma once

#include "compiler/ir/graph.h"

namespace systole::passes {

/// Replaces each group of nodes in which a file writes layer normalization, RMS normalization, GELU, swish,
/// softmax or log softmax by one node of that operator, which has the name of the group's last node. A group
/// stays if one of its inner values is an output of the network, or if other nodes read it. Quantized graphs
/// do not change.
ir::Graph recognize_operators(ir::Graph graph);

}  // namespace systole::passes
