#pragma once

#include "compiler/ir/graph.h"

namespace systole::passes {

/// Gives the result and the inputs of a concatenation the same range, the union of all ranges, so that no
/// branch needs to be rescaled. The same range applies to values that are connected with them without scaling
/// (by pooling, borders, reshapes, slices and other concatenations). The inputs of a dense layer with several
/// inputs are treated alike. The network's input keeps its range, because its encoding may be given; so do
/// values that are only moved from it. Exception: a 16-bit input, whose encoding is never given, shares the
/// range if a dense layer reads it. A graph on integers is returned unchanged.
ir::Graph unite_ranges(ir::Graph graph);

}  // namespace systole::passes
