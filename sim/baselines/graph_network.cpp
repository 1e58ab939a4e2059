#include "sim/baselines/graph_network.h"

#include "compiler/graph/operators/convolution.h"
#include "compiler/graph/operators/dense.h"
#include "compiler/graph/operators/depthwise_convolution.h"

namespace systole::baselines {
namespace {

std::uint64_t weights_of(const graph::Operator& op) {
    if (const auto* dense = dynamic_cast<const graph::Dense*>(&op)) return dense->weight_count();
    if (const auto* conv = dynamic_cast<const graph::Convolution*>(&op)) return conv->weight_count();
    if (const auto* depthwise = dynamic_cast<const graph::DepthwiseConvolution*>(&op)) {
        return depthwise->weight_count();
    }
    return 0;
}

}  // namespace

Network network_of(const graph::Graph& graph) {
    Network network{.name = graph.name, .layers = {}};
    for (const graph::Node& node : graph.nodes) {
        if (node.inputs.empty()) continue;
        const std::vector<graph::Shape> shapes = graph::input_shapes(graph, node);
        const std::uint64_t macs = node.op->macs(shapes);
        const std::uint64_t made = node.shape.elements();
        if (macs == 0 && shapes.size() == 1 && shapes.front().elements() == made) continue;
        std::uint64_t read = 0;
        for (const graph::Shape& shape : shapes) read += shape.elements();
        network.layers.push_back({.macs = macs, .weights = weights_of(*node.op), .activations = read + made});
    }
    return network;
}

}  // namespace systole::baselines
