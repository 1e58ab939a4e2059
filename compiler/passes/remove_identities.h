#pragma once

#include "compiler/ir/graph.h"

namespace systole::passes {

/// Removes nodes that change no value: linear activations, empty borders, 1x1 pooling, and every reshape that
/// only dense layers or other reshapes read. If all readers of an input reshape it in the same way, the input
/// takes that shape; its elements stay in place.
ir::Graph remove_identities(ir::Graph graph);

}  // namespace systole::passes
