#pragma once

#include <cstdint>

#include "compiler/graph/graph.h"

/// Graphs as variants of one network.
namespace systole::validate {

/// The same network for an array with so many rows: where its input is a vector of which every reader takes a
/// slice, the slices are moved apart so that each begins at a row of the unified buffer, as the chip wants
/// them. How the host packs an input is no part of the network.
graph::Graph row_aligned(const graph::Graph& graph, std::uint32_t row_bytes);

/// The same network with 8-bit activations throughout.
graph::Graph with_8_bit_activations(const graph::Graph& graph);

}  // namespace systole::validate
