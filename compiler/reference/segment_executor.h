#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "compiler/ir/graph.h"

namespace systole::reference {

/// The graph of a host segment, from the text that its program carries. Throws ModelError, which calls the
/// text "graph".
ir::Graph read_segment(std::string_view text);

/// The inputs and outputs of a graph as they lie in memory: by number in graph.inputs and graph.outputs, each
/// with the elements of all images, packed, in the type of its value.
struct SegmentTensors {
    std::span<const std::span<const std::uint8_t>> inputs;
    std::span<const std::span<std::uint8_t>> outputs;
};

/// Executes a graph of any types for `batch` images. Throws std::logic_error if a tensor has another size.
void execute_segment(const ir::Graph& graph, const SegmentTensors& tensors, std::uint32_t batch);

}  // namespace systole::reference
