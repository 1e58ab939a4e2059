#pragma once

#include "compiler/ir/graph.h"

namespace systole::passes {

/// Moves transpositions towards the network's outputs, where they meet others and cancel. Operators take part
/// through Operator::permuted. Those that reach an input or an output of the network become its order of axes
/// in the file; those before a dense layer become an order of its weights; those that move no element become
/// reshapes.
ir::Graph move_transposes(ir::Graph graph);

}  // namespace systole::passes
