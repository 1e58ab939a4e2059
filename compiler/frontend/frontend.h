#pragma once

#include <filesystem>

#include "compiler/frontend/weight_values.h"
#include "compiler/ir/graph.h"

namespace systole::frontend {

/// Reads a network from a file of any format there is a reader for; the contents decide which. Layers are
/// those that the operators know. Where values of weights may be skipped, a reader skips them if that is less
/// work. Throws ModelError, in one line that begins with the path.
ir::Graph read_network(const std::filesystem::path& path, const ir::OperatorSet& operators,
                       WeightValues values = WeightValues::Read);

}  // namespace systole::frontend
