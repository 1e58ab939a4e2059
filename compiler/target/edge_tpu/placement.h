#pragma once

#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace systole::edge_tpu {

/// Where a node runs.
struct Placement {
    bool on_chip = false;
    std::string reason = {};  ///< why not on the chip; empty for nodes that are
};

/// By node of a graph on integers. All nodes from the first one on that the chip does not compute run on the
/// host, as the Edge TPU's own compiler places them: a compiled network has one part for the chip.
std::vector<Placement> place(const ir::Graph& graph);

}  // namespace systole::edge_tpu
