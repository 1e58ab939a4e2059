#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace systole::operators {

/// The name of the layer with which a network itself brings pixels from 0 to 255 to the range of its other
/// layers: a rescaling, a normalization, or products and sums with constants between an input and the first
/// other layers. Absent if it has none, so that pixels must be scaled before they go in. `input` is a value
/// of real numbers; weights that are unknown say nothing.
std::optional<std::string> pixel_scaling_layer(const ir::Graph& graph, ir::ValueId input);

/// The same for all inputs of the graph, in its order; absent for inputs of integers.
std::vector<std::optional<std::string>> pixel_scaling_layers(const ir::Graph& graph);

}  // namespace systole::operators
