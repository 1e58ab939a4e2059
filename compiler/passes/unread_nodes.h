#pragma once

#include "compiler/graph/graph.h"

namespace systole::passes {

/// Takes out the nodes that no longer lead to the output.
void remove_unread_nodes(graph::Graph& graph);

}  // namespace systole::passes
