#pragma once

#include <filesystem>

#include "compiler/frontend/input_shapes.h"
#include "compiler/ir/graph.h"

namespace systole::frontend {

/// Reads a Keras model from an HDF5 file with architecture and weights, as `model.save("name.h5")` of Keras
/// 1.2 to 3 writes it. The graph has the file's name. Throws ModelError, in one line with file, layer, key,
/// value and rule, if the file is damaged or contains something unsupported. A child process reads the file
/// first, because the HDF5 library crashes on some damaged files.
ir::Graph read_keras_h5(const std::filesystem::path& path, const ir::OperatorSet& operators,
                        const InputShapes& shapes = {});

}  // namespace systole::frontend
