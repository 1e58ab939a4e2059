#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "compiler/graph/graph.h"

/// Executors of networks on this computer, without a machine: what a compiled network is judged by.
namespace systole::reference {

/// Told each node's result: the elements of some images, packed. Called for every node and image,
/// several images at a time.
using NodeObserver = std::function<void(graph::NodeId node, std::span<const float> values)>;

/// Runs the graph on `batch` inputs, packed one after the other, and returns the packed outputs.
/// Throws ModelError where `inputs` is not batch * graph.input_shape().elements() values.
std::vector<float> execute(const graph::Graph& graph, std::span<const float> inputs, std::uint32_t batch,
                           const NodeObserver& observer = {});

/// The largest of each inference's outputs: the predicted class. The first of equals.
std::vector<std::uint32_t> argmax(std::span<const float> outputs, std::uint32_t batch);

}  // namespace systole::reference
