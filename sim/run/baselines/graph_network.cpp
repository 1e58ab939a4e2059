#include "sim/run/baselines/graph_network.h"

#include "compiler/operators/operator.h"

namespace systole::baselines {

Network network_of(const ir::Graph& graph) {
    Network network{.name = graph.name, .layers = {}};
    for (const ir::Node& node : graph.nodes) {
        const ir::NodeView view(graph, node);
        const std::size_t inputs = view.data_inputs();
        const std::uint64_t macs = operators::operator_of(node).macs(view);
        const std::uint64_t made = view.output().shape.elements();
        if (macs == 0 && inputs == 1 && view.input().shape.elements() == made) continue;
        std::uint64_t read = 0;
        for (std::size_t i = 0; i < inputs; ++i) read += view.input(i).shape.elements();
        network.layers.push_back(
            {.macs = macs, .weights = operators::weight_count(view), .activations = read + made});
    }
    return network;
}

}  // namespace systole::baselines
