#pragma once

#include <string_view>

#include "compiler/frontend/keras/weights.h"
#include "compiler/ir/graph.h"

namespace systole::frontend {

/// Builds the graph from a model_config and its weights; it has the model's inputs and outputs in the model's
/// order. A layer that is called several times becomes nodes for each call, with the same weights. Throws
/// ModelError (without the file's name).
ir::Graph build_keras_graph(std::string_view model_config, const WeightSource& weights,
                            const ir::OperatorSet& operators);

}  // namespace systole::frontend
