#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "compiler/frontend/input_shapes.h"
#include "compiler/frontend/tflite_runtime.h"
#include "compiler/ir/graph.h"

namespace systole::frontend {

/// Whether a file with this beginning is a TFLite file.
bool is_tflite(std::string_view head);

/// What the user says about a TFLite file.
struct TfliteOptions {
    TfliteRuntime runtime = newest_tflite_runtime;
    std::string signature = {};  ///< of a file with several networks
    InputShapes shapes = {};     ///< of inputs whose sizes the file leaves open
};

/// Reads a TFLite file: a signature or subgraph, with types and quantization as they are in the file. Weights
/// of 8 bits that a node on float32 reads (dynamic range quantization) become float32. Where runtimes differ,
/// the nodes have attributes that say what `runtime` does. The inputs and outputs of a signature that is
/// named have its names for them, others those of the tensors. Throws ModelError, in one line that begins
/// with the path.
ir::Graph read_tflite(const std::filesystem::path& path, const ir::OperatorSet& operators,
                      const TfliteOptions& options = {});

/// The same for the bytes of a file. Throws ModelError, without a path.
ir::Graph build_tflite_graph(std::span<const std::uint8_t> file, const ir::OperatorSet& operators,
                             const TfliteOptions& options = {});

}  // namespace systole::frontend
