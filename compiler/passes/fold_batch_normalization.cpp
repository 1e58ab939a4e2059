// Removes batch normalizations: each becomes part of the weights and the bias of the convolution or dense
// layer before it, or, where there is none that it alone reads, a depthwise convolution of single pixels.
#include "compiler/passes/fold_batch_normalization.h"

#include "compiler/graph/operators/batch_normalization.h"
#include "compiler/graph/operators/depthwise_convolution.h"
#include "compiler/passes/linear_operator.h"

namespace systole::passes {
namespace {

using graph::BatchNormalization;
using graph::NodeId;

void scale_results(const LinearOperator& linear, const BatchNormalization::Affine& affine) {
    const std::size_t channels = affine.scale.size();
    for (std::size_t i = 0; i < linear.weights->size(); ++i)
        (*linear.weights)[i] *= affine.scale[i % channels];
    if (linear.bias->empty()) linear.bias->assign(channels, 0.0F);
    for (std::size_t c = 0; c < channels; ++c) {
        (*linear.bias)[c] = (*linear.bias)[c] * affine.scale[c] + affine.offset[c];
    }
}

std::unique_ptr<graph::Operator> as_convolution(const BatchNormalization::Affine& affine) {
    auto convolution = std::make_unique<graph::DepthwiseConvolution>();
    convolution->in_channels = static_cast<std::uint32_t>(affine.scale.size());
    convolution->weights = affine.scale;
    convolution->bias = affine.offset;
    return convolution;
}

}  // namespace

graph::Graph fold_batch_normalization(graph::Graph graph) {
    const auto readers = graph::consumers(graph);
    std::vector<bool> folded(graph.nodes.size(), false);
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
        const auto* const normalization = dynamic_cast<const BatchNormalization*>(graph.nodes[id].op.get());
        if (normalization == nullptr) continue;
        const BatchNormalization::Affine affine = normalization->affine();

        NodeId producer = graph.nodes[id].inputs[0];
        const bool only_reader = readers[producer].size() == 1;
        while (folded[producer]) producer = graph.nodes[producer].inputs[0];
        const auto linear = as_linear(*graph.nodes[producer].op);
        if (only_reader && linear) {
            scale_results(*linear, affine);
            folded[id] = true;
        } else {
            graph.nodes[id].op = as_convolution(affine);
        }
    }
    graph::remove_nodes(graph, folded);
    return graph;
}

}  // namespace systole::passes
