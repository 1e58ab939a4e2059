#pragma once

#include "compiler/ir/graph.h"

namespace systole::ir {

/// Whether a graph is a program: it states each operation on words itself, or keeps state, or its borders
/// have formats that only files have. Other graphs are networks, which the passes prepare.
bool is_program(const Graph& graph);

}  // namespace systole::ir
