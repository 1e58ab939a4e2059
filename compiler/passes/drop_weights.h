#pragma once

#include "compiler/graph/graph.h"

namespace systole::passes {

/// Forgets the values of weights and biases: what remains can be compiled to be timed.
graph::Graph drop_weights(graph::Graph graph);

}  // namespace systole::passes
