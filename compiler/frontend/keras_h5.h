#pragma once

#include <filesystem>
#include <string_view>

#include "compiler/frontend/keras/weights.h"
#include "compiler/ir/graph.h"

namespace systole::frontend {

/// Reads a Keras model from an HDF5 file with architecture and weights, as `model.save("name.h5")` of
/// Keras 2.2 to 3 writes it. Named as the file. Throws ModelError, in one line with file, layer, key,
/// value and rule, where the file is damaged or holds what is not supported. A child process tries the file
/// first, as the HDF5 library does not survive every damaged file.
ir::Graph read_keras_h5(const std::filesystem::path& path, const ir::OperatorSet& operators);

/// The part behind the file: the graph of a model_config and its weights.
ir::Graph build_keras_graph(std::string_view model_config, const WeightSource& weights,
                            const ir::OperatorSet& operators);

}  // namespace systole::frontend
