#pragma once

#include <vector>

#include "compiler/ir/layer_kind.h"

namespace systole::operators {

/// Layers whose result follows from a shape, or from the places of a constant's numbers that are not 0.
std::vector<ir::LayerKind> index_constants();

}  // namespace systole::operators
