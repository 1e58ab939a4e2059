#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/target/tensor_core/network_builder.h"

namespace systole::tensor_core {

/// The images with several pixels in a row: inputs of few channels, and what is computed from them element by
/// element. `readers` are those of the graph's values.
std::map<ir::ValueId, MatrixShape> values_side_by_side(const ir::Graph& graph,
                                                       const std::vector<std::vector<ir::NodeId>>& readers,
                                                       std::uint64_t lanes);

}  // namespace systole::tensor_core
