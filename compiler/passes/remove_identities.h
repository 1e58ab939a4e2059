#pragma once

#include "compiler/ir/graph.h"

namespace systole::passes {

/// Removes what changes no value: linear activations, borders and windows of nothing, and every reshape
/// that only dense layers or other reshapes read. An input that is only ever read reshaped takes that
/// shape itself; its elements stay where they are.
ir::Graph remove_identities(ir::Graph graph);

}  // namespace systole::passes
