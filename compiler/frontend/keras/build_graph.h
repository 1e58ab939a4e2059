#pragma once

#include <optional>
#include <string_view>

#include "compiler/frontend/input_shapes.h"
#include "compiler/frontend/keras/weights.h"
#include "compiler/ir/graph.h"

namespace systole::frontend {

/// Builds the graph from a model_config of this version of Keras and its weights; it has the model's inputs
/// and outputs in the model's order. A layer that is called several times becomes nodes for each call, with
/// the same weights. Sizes of inputs that the model leaves open follow from `shapes`. Throws ModelError
/// (without the file's name).
ir::Graph build_keras_graph(std::string_view model_config, const WeightSource& weights,
                            const ir::OperatorSet& operators, int major_version = 2,
                            const InputShapes& shapes = {});

/// The major version in "2.15.0"; nullopt for other texts.
std::optional<int> keras_major_version(std::string_view version);

}  // namespace systole::frontend
