#pragma once

#include <filesystem>
#include <string_view>

#include "compiler/frontend/keras/weights.h"
#include "compiler/ir/graph.h"

namespace systole::frontend {

/// Reads a Keras model from an HDF5 file with architecture and weights, as `model.save("name.h5")` of
/// Keras 2.2 to 3 writes it. The graph has the file's name. Throws ModelError, in one line with file, layer,
/// key, value and rule, if the file is damaged or contains something unsupported. A child process reads the
/// file first, because the HDF5 library crashes on some damaged files.
ir::Graph read_keras_h5(const std::filesystem::path& path, const ir::OperatorSet& operators);

/// Builds the graph from a model_config and its weights.
ir::Graph build_keras_graph(std::string_view model_config, const WeightSource& weights,
                            const ir::OperatorSet& operators);

}  // namespace systole::frontend
