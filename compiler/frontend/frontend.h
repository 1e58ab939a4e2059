#pragma once

#include <filesystem>

#include "compiler/graph/graph.h"

namespace systole::frontend {

/// Reads a network from a file of any format there is a reader for; the contents decide which. Throws
/// ModelError, in one line that begins with the path.
graph::Graph read_network(const std::filesystem::path& path);

}  // namespace systole::frontend
