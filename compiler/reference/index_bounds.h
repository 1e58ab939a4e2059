#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/ir/graph.h"

namespace systole::reference {

/// The indices that a node takes from an input of the graph, moved at most: all must be from `least` to
/// `most`.
struct IndexBounds {
    std::size_t input = 0;  ///< in Graph::inputs
    std::int64_t least = 0;
    std::int64_t most = 0;
    ir::NodeId node = 0;
};
/// Those of all nodes that find single places along an axis. They are checked before a run, whose message can
/// name the file; indices that the network computes are checked when it runs.
std::vector<IndexBounds> index_bounds(const ir::Graph& graph);

}  // namespace systole::reference
