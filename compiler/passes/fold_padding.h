#pragma once

#include "compiler/graph/graph.h"

namespace systole::passes {

/// Turns borders of zeros into the padding of the convolutions that read them; borders that nothing else
/// reads disappear.
graph::Graph fold_padding(graph::Graph graph);

}  // namespace systole::passes
