#pragma once

#include "compiler/ir/graph.h"

namespace systole::passes {

/// Forgets the values of weights and biases: what remains can be compiled to be timed.
ir::Graph drop_weights(ir::Graph graph);

}  // namespace systole::passes
