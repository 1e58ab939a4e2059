#pragma once

#include "compiler/ir/graph.h"

namespace systole::tensor_core {

/// The graph with element-wise work put together, as far as one instruction has room for it: a `word_chain`
/// computes what it reads from other ones itself, so that their results are neither written nor read. The
/// bits of all values that stay are the same.
ir::Graph fuse_chains(ir::Graph graph);

}  // namespace systole::tensor_core
