#pragma once

#include "compiler/ir/graph.h"
#include "compiler/passes/calibrate.h"

namespace systole::passes {

/// Takes from the biases of a quantized graph what the rounding of weights adds to the results on average: a
/// channel's rounding errors times the means of what they are multiplied with. `real` is the graph in float
/// from which it was quantized; it runs on the first inputs. Nothing changes in a graph without weights.
ir::Graph correct_biases(ir::Graph quantized, const ir::Graph& real, const Calibration& calibration);

}  // namespace systole::passes
