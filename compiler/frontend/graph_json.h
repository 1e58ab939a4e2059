#pragma once

#include <filesystem>
#include <string_view>

#include "compiler/frontend/weight_values.h"
#include "compiler/ir/graph.h"

namespace systole::frontend {

/// Reads a network described in JSON (schema sim.graph/1, see docs/graph_files.md). Such a file has no
/// weights; they are drawn from its seeds. Throws ModelError, in one line that begins with the path.
ir::Graph read_graph_json(const std::filesystem::path& path, const ir::OperatorSet& operators,
                          WeightValues values);

/// Builds the network that a text describes. Throws ModelError, without a path.
ir::Graph build_json_graph(std::string_view text, const ir::OperatorSet& operators, WeightValues values);

}  // namespace systole::frontend
