#pragma once

#include <filesystem>
#include <functional>

#include "compiler/ir/graph.h"

namespace systole::frontend {

/// Runs a reader of a file that contains HDF5, in a child process first: the library crashes or never returns
/// on some damaged files. The graph gets the file's name. Throws ModelError that begins with the path.
ir::Graph read_twice(const std::filesystem::path& path, const std::function<ir::Graph()>& read);

}  // namespace systole::frontend
