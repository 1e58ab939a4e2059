#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compiler/frontend/input_shapes.h"
#include "compiler/frontend/tflite_runtime.h"
#include "compiler/ir/graph.h"

namespace systole::frontend {

/// Whether a network is read with the values of its weights. Without them it can only be timed (see
/// ir::Graph::has_weights).
enum class WeightValues : std::uint8_t { Read, Skipped };

/// Reads a network from a file; the contents determine the format. The operators define the layers that are
/// supported. With WeightValues::Skipped, a reader skips the weights' values if that saves work. Throws
/// ModelError, in one line that begins with the path.
ir::Graph read_network(const std::filesystem::path& path, const ir::OperatorSet& operators,
                       WeightValues values = WeightValues::Read);

/// What the user says about a network that its file leaves open.
struct ImportOptions {
    InputShapes shapes = {};                           ///< for files that leave sizes of inputs open
    std::optional<TfliteRuntime> tflite_runtime = {};  ///< for TFLite files; absent: the newest
    std::string signature = {};                        ///< for TFLite files with several networks
};
/// The same with these options. Throws ModelError too for an option that is not for this kind of file.
ir::Graph read_network(const std::filesystem::path& path, const ir::OperatorSet& operators,
                       WeightValues values, const ImportOptions& options);

/// The files beside a network's file from which its weights are read, relative to its folder, sorted; those
/// of ONNX's external data. None for a file that cannot be read.
std::vector<std::filesystem::path> further_files(const std::filesystem::path& path);

}  // namespace systole::frontend
