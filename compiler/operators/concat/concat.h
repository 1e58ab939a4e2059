#pragma once

#include "compiler/ir/graph.h"

namespace systole::operators {

/// Whether a node concatenates the channels of feature maps that are no constants.
bool is_along_channels(const ir::NodeView& node);

}  // namespace systole::operators
