#pragma once

#include "compiler/ir/graph.h"

namespace systole::passes {

/// Turns borders of zeros into the padding of the convolutions that read them; borders that nothing else
/// reads disappear.
ir::Graph fold_padding(ir::Graph graph);

}  // namespace systole::passes
