#pragma once

#include <cstddef>

#include "compiler/ir/graph.h"

namespace systole::passes {

/// Gives the result and the inputs of a concatenation the same range, the union of all ranges, so that no
/// branch needs to be rescaled. The same range applies to values that are connected with them without scaling
/// (by pooling, borders, reshapes, slices and other concatenations). The inputs of a dense layer with several
/// inputs are treated alike.
///
/// Values keep their range if it must not or should not depend on this one:
/// - the network's input, because its encoding may be given, and values that are only moved from it. Except
///   for a 16-bit input, whose encoding is never given: it shares the range if a dense layer reads it.
/// - a value of 8 bits that other nodes or the network's outputs read too, if its range is clearly narrower.
///   The concatenation then converts it; a dense layer takes inputs of several encodings.
/// A graph on integers is returned unchanged.
ir::Graph unite_ranges(ir::Graph graph);

/// The number of concatenations that may have to convert such a value of 8 bits, depending on the ranges.
/// 0 for a graph on integers.
std::size_t concats_that_may_convert(const ir::Graph& graph);

}  // namespace systole::passes
