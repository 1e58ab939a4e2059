#pragma once

#include "compiler/ir/graph.h"

namespace systole::tensor_core {

/// The graph in which products of one pass take their operands as they were before these were rounded to
/// bfloat16, where the numbers before are in memory anyway and products alone read the rounded ones. The
/// array rounds its operands itself, so the bits of all values that stay are the same; the rounded numbers
/// are neither written nor read.
ir::Graph take_unrounded_operands(ir::Graph graph);

}  // namespace systole::tensor_core
