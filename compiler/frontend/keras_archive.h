#pragma once

#include <filesystem>
#include <string_view>

#include "compiler/frontend/input_shapes.h"
#include "compiler/ir/graph.h"

namespace systole::frontend {

/// Reads a Keras model from a .keras file: a zip file with the architecture in config.json and the weights in
/// model.weights.h5, as `model.save("name.keras")` of Keras 2.12 to 3 writes it. The graph has the file's
/// name. Throws ModelError like read_keras_h5.
ir::Graph read_keras_archive(const std::filesystem::path& path, const ir::OperatorSet& operators,
                             const InputShapes& shapes = {});

/// The same from the bytes of such a file, in this process, without a name.
ir::Graph read_keras_archive(std::string_view bytes, const ir::OperatorSet& operators,
                             const InputShapes& shapes = {});

}  // namespace systole::frontend
