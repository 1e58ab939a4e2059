#pragma once

#include <filesystem>
#include <functional>

#include "compiler/frontend/input_shapes.h"
#include "compiler/frontend/onnx/model_proto.h"
#include "compiler/ir/graph.h"

namespace systole::frontend::onnx_file {

/// Builds the graph of a model, which `parse` gives each time it is called, as building uses it up. Tensors
/// in other files are looked for in `folder`. Throws ModelError, without a path.
ir::Graph build_graph(const std::function<::onnx::ModelProto()>& parse, const std::filesystem::path& folder,
                      const ir::OperatorSet& operators, const InputShapes& shapes);

}  // namespace systole::frontend::onnx_file
