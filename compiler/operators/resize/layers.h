#pragma once

#include <vector>

#include "compiler/ir/layer_kind.h"

namespace systole::operators {

/// The layers of network files that become `resize`.
std::vector<ir::LayerKind> resize_layers();

}  // namespace systole::operators
