#pragma once

#include "compiler/ir/graph.h"

namespace systole::passes {

/// Makes one all-reduce of those that are ready together: of the same parts, with as many all-reduces before
/// them. The sums are those of each alone. So their rows go over the links as one transfer, which has the
/// way along all cores once; the first one waits for the last.
ir::Graph combine_all_reduces(ir::Graph graph);

}  // namespace systole::passes
