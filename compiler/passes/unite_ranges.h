#pragma once

#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/passes/calibrate.h"

namespace systole::passes {

/// Gives all that a concatenation holds together one range, the union of theirs: its result, its inputs, and
/// what those move on unscaled (through pooling, borders, reshapes, slices, other concatenations). Likewise
/// the inputs of a dense layer that has several. The network's input, whose encoding may be given, keeps its
/// own, and so does what is only moved from there; of 16 bits, where it is never given, a dense layer's input
/// takes part.
std::vector<Range> unite_ranges(const ir::Graph& graph, std::vector<Range> ranges);

/// The value whose elements, moved but not scaled, a value has: itself, or what pooling, borders, reshapes
/// and slices begin with.
ir::ValueId moved_source(const ir::Graph& graph, ir::ValueId value);

}  // namespace systole::passes
