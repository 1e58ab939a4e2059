#pragma once

#include <cstdint>
#include <filesystem>

#include "compiler/ir/graph.h"

namespace systole::frontend {

/// Whether a network is read with the values of its weights, or without where its reader can leave them out:
/// enough to time it (see ir::Graph::has_weights).
enum class WeightValues : std::uint8_t { Read, Skipped };

/// Reads a network from a file of any format there is a reader for; the contents decide which. Layers are
/// those that the operators know. Where values of weights may be skipped, a reader skips them if that is less
/// work. Throws ModelError, in one line that begins with the path.
ir::Graph read_network(const std::filesystem::path& path, const ir::OperatorSet& operators,
                       WeightValues values = WeightValues::Read);

}  // namespace systole::frontend
