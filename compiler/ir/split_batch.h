#pragma once

#include <cstdint>

#include "compiler/ir/graph.h"

namespace systole::ir {

/// The first extent of all inputs, if it may be a batch: if each has two axes or more, and all have the same
/// one; else 1.
std::uint32_t common_batch(const Graph& graph);

/// Makes a network on a batch of images, which is the first axis of all inputs and outputs, the network on
/// one image. Throws ModelError, with the node, unless each node computes each image of the batch alone.
void split_batch(Graph& graph);

}  // namespace systole::ir
