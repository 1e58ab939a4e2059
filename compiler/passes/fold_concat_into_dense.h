#pragma once

#include "compiler/ir/graph.h"

namespace systole::passes {

/// Removes concatenations of vectors that only dense layers read. The dense layers then read the vectors
/// themselves and add up the products, so no vector has to be moved. Concatenations that convert a part to
/// another scale stay.
ir::Graph fold_concat_into_dense(ir::Graph graph);

}  // namespace systole::passes
