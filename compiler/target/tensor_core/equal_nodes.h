#pragma once

#include "compiler/ir/graph.h"

namespace systole::tensor_core {

/// Of nodes that do the same with the same values, the first one's results serve all readers. Programs
/// compute some numbers twice, as the mean by which batch normalization centers and that of the variance.
ir::Graph without_equal_nodes(ir::Graph graph);

}  // namespace systole::tensor_core
