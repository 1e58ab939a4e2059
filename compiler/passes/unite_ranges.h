#pragma once

#include "compiler/ir/graph.h"

namespace systole::passes {

/// Gives the result and the inputs of a concatenation the same range, the union of all ranges. The same range
/// applies to values that are connected with them without scaling (by pooling, borders, reshapes, slices and
/// other concatenations). The inputs of a dense layer with several inputs are treated alike.
///
/// Values keep their range if it must not or should not depend on this one:
/// - the network's input, because its encoding may be given, and values that are only moved from it. Except
///   for a 16-bit input, whose encoding is never given: it shares the range if a dense layer reads it.
/// - a value that others read too (operators::SharedValues), if its range is clearly narrower.
///
/// The results of all nodes of a repeated part (ir::Graph::repeated) have one range, too.
///
/// A concatenation converts both kinds, whatever the ranges are, so that instructions do not depend on them
/// (Quantizer::has_own_range); a dense layer takes inputs of several encodings. A graph on integers is
/// returned unchanged.
ir::Graph unite_ranges(ir::Graph graph);

}  // namespace systole::passes
