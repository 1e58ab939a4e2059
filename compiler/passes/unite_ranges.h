#pragma once

#include "compiler/ir/graph.h"

namespace systole::passes {

/// Gives all that a concatenation holds together one range, the union of theirs: its result, its inputs, and
/// what those move on unscaled (through pooling, borders, reshapes, slices, other concatenations). Likewise
/// the inputs of a dense layer that has several. The network's input, whose encoding may be given, keeps its
/// own, and so does what is only moved from there; of 16 bits, where it is never given, a dense layer's input
/// takes part. A graph on integers stays as it is.
ir::Graph unite_ranges(ir::Graph graph);

}  // namespace systole::passes
