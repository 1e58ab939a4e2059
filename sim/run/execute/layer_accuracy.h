#pragma once

#include <vector>

#include "compiler/ir/graph.h"
#include "sim/run/images.h"
#include "sim/run/record/record.h"
#include "sim/run/record/spec.h"

namespace systole::run {

/// How far the numbers of each layer of the quantized network are from those of the network in float, over
/// the first inferences of these inputs: each inference goes through both, from input to output. The
/// references compute them; the chip's numbers are those of the reference on integers. Throws ModelError.
std::vector<LayerAccuracy> layer_accuracy(const RunSpec& spec, const ir::Graph& graph,
                                          const std::vector<NamedImages>& inputs);

}  // namespace systole::run
