#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/frontend/input_shapes.h"
#include "compiler/frontend/tflite_runtime.h"
#include "compiler/frontend/weight_values.h"
#include "compiler/ir/graph.h"

/// The door of the frontends. It alone knows the registry of operators, which define the layers that are
/// supported; the readers of the file formats get it from here.
namespace systole::frontend {

/// What the user says about a network that its file leaves open.
struct ImportOptions {
    InputShapes shapes = {};                           ///< for files that leave sizes of inputs open
    std::optional<TfliteRuntime> tflite_runtime = {};  ///< for TFLite files; absent: the newest
    std::string signature = {};                        ///< for TFLite files with several networks
};

/// Reads a network from a file; the contents determine the format. With WeightValues::Skipped, a reader skips
/// the weights' values if that saves work. Throws ModelError, in one line that begins with the path, also for
/// an option that is not for this kind of file.
ir::Graph read_network(const std::filesystem::path& path, WeightValues values = WeightValues::Read,
                       const ImportOptions& options = {});

/// The network that the text of a graph file (JSON) describes. Throws ModelError, without a path.
ir::Graph build_json_graph(std::string_view text, WeightValues values);

/// The files beside a network's file from which its weights are read, relative to its folder, sorted; those
/// of ONNX's external data. None for a file that cannot be read.
std::vector<std::filesystem::path> further_files(const std::filesystem::path& path);

}  // namespace systole::frontend
