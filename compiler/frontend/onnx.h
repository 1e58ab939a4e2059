#pragma once

#include <filesystem>
#include <string_view>

#include "compiler/frontend/input_shapes.h"
#include "compiler/ir/graph.h"

namespace systole::frontend {

/// Whether the first bytes of a file are those of an ONNX model: protobuf fields of ModelProto.
bool is_onnx(std::string_view head);

/// Reads an ONNX file, with the files in its folder that hold its tensors. An open batch is 1; other sizes
/// that the file leaves open follow from `shapes`. Throws ModelError, in one line that begins with the path.
ir::Graph read_onnx(const std::filesystem::path& path, const ir::OperatorSet& operators,
                    const InputShapes& shapes = {});

/// Builds the graph of a model from its bytes. Tensors in other files are looked for in `folder`. Throws
/// ModelError in one line.
ir::Graph build_onnx_graph(std::string_view model, const std::filesystem::path& folder,
                           const ir::OperatorSet& operators, const InputShapes& shapes = {});

}  // namespace systole::frontend
