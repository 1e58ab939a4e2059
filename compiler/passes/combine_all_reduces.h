#pragma once

#include "compiler/ir/graph.h"

namespace systole::passes {

/// Makes one all-reduce of all that sum the same number of parts and have as many all-reduces before them on
/// the longest way: none of them needs the result of another. The one stands where the inputs of all are
/// there, and has the name of the first. It goes over the links as one transfer, which goes the way along all
/// cores once, but begins when the last input is there. All results are as before.
ir::Graph combine_all_reduces(ir::Graph graph);

}  // namespace systole::passes
