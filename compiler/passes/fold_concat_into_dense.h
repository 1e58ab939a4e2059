#pragma once

#include "compiler/ir/graph.h"

namespace systole::passes {

/// Takes out concatenations of vectors that only dense layers read: these read the vectors themselves, whose
/// products add up. So nothing has to be moved next to each other.
ir::Graph fold_concat_into_dense(ir::Graph graph);

}  // namespace systole::passes
