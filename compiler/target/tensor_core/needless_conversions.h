#pragma once

#include "compiler/ir/graph.h"

namespace systole::tensor_core {

/// The graph without conversions between float32 and bfloat16 that change nothing for those that read them:
/// - a bfloat16 is a float32 already, so work reads it as it is;
/// - the array rounds operands itself: a product of one pass takes its operands as they were before they were
///   rounded, where these are in memory anyway and products alone read the rounded ones.
/// The bits of all values that stay are the same; converted numbers are neither written nor read.
ir::Graph without_needless_conversions(ir::Graph graph);

}  // namespace systole::tensor_core
