#pragma once

#include <array>
#include <cstdint>

#include "compiler/ir/graph.h"

namespace systole::operators {

using PaddedSides = std::array<std::uint32_t, 4>;  ///< top, left, bottom, right

/// The border of a node, in pixels.
PaddedSides padding_of(const ir::Node& node);

}  // namespace systole::operators
