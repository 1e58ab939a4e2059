#pragma once

#include <string>
#include <string_view>

#include "compiler/ir/graph.h"

namespace systole::ir {

/// The graph as text that reads back to an equal graph: a header, a line for each value, then a line for each
/// node. The line of a small constant lists its elements, that of a large one its little-endian bytes in
/// hexadecimal. Empty lines and comments after # are allowed.
///
///     graph "digits"
///     inputs %0
///     outputs %3
///     %0 float32 1x28x28x1 "input"
///     %1 float32 3x3x1x4 "conv/kernel" = bytes 00ff...
///     %2 float32 4 "conv/bias" = [0.5, 1.0, -0.25, 0.0]
///     %3 float32 1x28x28x4 "conv" stored int16
///     %3 = convolution(%0, %1, %2) "conv" {kernel [3, 3], padding [1, 1, 1, 1]}
///
/// Behind the outputs, "state %0 -> %3" says that output %3 is input %0 of the next run. A node divides its
/// inputs by ';' into data and parameters where they are not those that are no constants and the constants:
/// "dense(%0; %2)" has weights that another node computes.
///
/// An input that all inferences of a batch share has "shared" behind the rest.
///
/// After its name, a calibrated value has "range -1.5 3.0"; a value of integers has "scale 0.25 zero 128" or,
/// with a scale for each index of an axis, "axis 3 scales [0.5, 0.25] zeros [0, 0]".
std::string to_text(const Graph& graph);

/// The same without the values of constants, for reading.
std::string summary_of(const Graph& graph);

/// Whether a file with this beginning holds the text of a graph.
bool is_graph_text(std::string_view head);

/// Reads a text of to_text. `file` is its name in messages: "file:line:column: token: rule". Throws
/// ModelError, also if the graph is not valid (find_fault).
Graph parse_graph(std::string_view text, std::string_view file, const OperatorSet& operators);

}  // namespace systole::ir
