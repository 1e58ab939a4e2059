#pragma once

#include "compiler/ir/graph.h"

namespace systole::tpu_v1 {

/// The graph with its repeated parts (ir::Graph::repeated), and the nodes among them, in the order of the
/// nodes that must come before each. The steps of recurrences that do not depend on each other, such as both
/// directions of a layer, then take turns, and the latency of one is hidden by the work of the other.
ir::Graph interleave_repeats(ir::Graph graph);

}  // namespace systole::tpu_v1
