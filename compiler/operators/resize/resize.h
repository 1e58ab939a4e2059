#pragma once

#include <cstddef>
#include <vector>

#include "compiler/ir/graph.h"

namespace systole::operators {

/// Of a resize of the mode "nearest": the element of the input that each element of the result along an axis
/// is.
std::vector<std::size_t> nearest_elements(const ir::NodeView& node, std::size_t axis);

}  // namespace systole::operators
