#include "sim/validate/eight_bit.h"

namespace systole::validate {

graph::Graph with_8_bit_activations(const graph::Graph& graph) {
    graph::Graph narrow = graph::clone(graph);
    for (graph::Node& node : narrow.nodes) node.activation_bits = 8;
    return narrow;
}

}  // namespace systole::validate
