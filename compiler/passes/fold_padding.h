#pragma once

#include "compiler/ir/graph.h"

namespace systole::passes {

/// Turns borders of zeros into padding of the convolutions that read them, and removes borders without other
/// readers.
ir::Graph fold_padding(ir::Graph graph);

}  // namespace systole::passes
