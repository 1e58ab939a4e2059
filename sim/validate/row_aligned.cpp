#include "sim/validate/row_aligned.h"

#include <algorithm>
#include <map>
#include <vector>

#include "compiler/graph/operators/input.h"
#include "compiler/graph/operators/slice.h"

namespace systole::validate {

graph::Graph row_aligned(const graph::Graph& graph, std::uint32_t row_bytes) {
    graph::Graph aligned = graph::clone(graph);
    auto* const input = dynamic_cast<graph::Input*>(aligned.nodes.front().op.get());
    std::multimap<std::uint32_t, graph::Slice*> slices;  // in the order in which they lie
    const std::vector<std::vector<graph::NodeId>> readers = graph::consumers(graph);
    for (const graph::NodeId reader : readers.front()) {
        auto* const slice = dynamic_cast<graph::Slice*>(aligned.nodes[reader].op.get());
        if (slice == nullptr) return aligned;
        slices.emplace(slice->first, slice);
    }
    if (input == nullptr || slices.empty()) return aligned;

    const std::uint32_t element_bytes = aligned.nodes.front().activation_bits / 8U;
    std::uint32_t next = 0;
    std::uint32_t previous_first = 0;
    std::uint32_t previous_end = 0;
    std::uint32_t placed = 0;
    for (const auto& [first, slice] : slices) {
        if (first == previous_first && previous_end > 0) {  // another reader of the same elements
            slice->first = placed;
            next = std::max(next, placed + slice->count);
            continue;
        }
        if (first < previous_end) return graph::clone(graph);  // they overlap: nothing can be moved
        const std::uint32_t rows = (next * element_bytes + row_bytes - 1) / row_bytes;
        placed = rows * row_bytes / element_bytes;
        previous_first = first;
        previous_end = first + slice->count;
        slice->first = placed;
        next = placed + slice->count;
    }
    input->shape = {.height = 1, .width = 1, .channels = next};
    aligned.nodes.front().shape = input->shape;
    return aligned;
}

graph::Graph with_8_bit_activations(const graph::Graph& graph) {
    graph::Graph narrow = graph::clone(graph);
    for (graph::Node& node : narrow.nodes) node.activation_bits = 8;
    return narrow;
}

}  // namespace systole::validate
