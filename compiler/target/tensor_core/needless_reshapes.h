#pragma once

#include "compiler/ir/graph.h"

/// Element-wise work between a reshape and one back is done where the elements are: numbers of rows that a
/// reduction has left, for which work on all rows waits, stay beside their rows.
namespace systole::tensor_core {

ir::Graph without_needless_reshapes(ir::Graph graph);

}  // namespace systole::tensor_core
