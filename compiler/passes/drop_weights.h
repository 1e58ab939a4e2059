#pragma once

#include "compiler/ir/graph.h"

namespace systole::passes {

/// Removes the values of weights and biases. The result can be compiled and timed, but not computed.
ir::Graph drop_weights(ir::Graph graph);

}  // namespace systole::passes
