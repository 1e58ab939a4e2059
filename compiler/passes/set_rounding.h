#pragma once

#include "base/rounding.h"
#include "compiler/ir/graph.h"

namespace systole::passes {

/// Sets the attribute `rounding` of all nodes on integers that have it to the rounding of a machine, which
/// rounds so whatever the network's file says. For float_half_even it clears `real_multiplier`, which is
/// another multiplier. Nodes that cannot round so, such as those of 16 bits for float_half_even, stay as they
/// are: they are not for that machine.
ir::Graph set_rounding(ir::Graph graph, Rounding rounding);

}  // namespace systole::passes
