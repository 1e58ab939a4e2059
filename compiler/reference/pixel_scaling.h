#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace systole::reference {

/// For each input of the graph, in its order, the name of the layer with which the network itself brings
/// pixels from 0 to 255 to the range of its other layers: a rescaling, a normalization, or products and sums
/// with constants between the input and the first layers with weights. Absent where the network has none, so
/// that pixels must be scaled before they go in, and for inputs of integers. Constants that are unknown say
/// nothing.
std::vector<std::optional<std::string>> pixel_scaling_layers(const ir::Graph& graph);

}  // namespace systole::reference
