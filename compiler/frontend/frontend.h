#pragma once

#include <filesystem>

#include "compiler/frontend/weight_values.h"
#include "compiler/graph/graph.h"

namespace systole::frontend {

/// Reads a network from a file of any format there is a reader for; the contents decide which. Where values
/// of weights may be skipped, a reader skips them if that is less work. Throws ModelError, in one line that
/// begins with the path.
graph::Graph read_network(const std::filesystem::path& path, WeightValues values = WeightValues::Read);

}  // namespace systole::frontend
