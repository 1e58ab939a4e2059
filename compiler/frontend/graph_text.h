#pragma once

#include <filesystem>

#include "compiler/ir/graph.h"

namespace systole::frontend {

/// Reads the text of a graph (compiler/ir/text.h) of one input and one output. Throws ModelError, in one line
/// that begins with the path.
ir::Graph read_graph_text(const std::filesystem::path& path, const ir::OperatorSet& operators);

}  // namespace systole::frontend
