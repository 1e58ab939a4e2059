#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/graph/operators/activation.h"
#include "compiler/graph/operators/concat.h"
#include "compiler/graph/operators/pool.h"
#include "tests/support/graphs.h"

namespace systole::tests {

/// Builds the modules of which Inception networks (arXiv:1512.00567) consist, with random weights.
class InceptionBuilder {
public:
    InceptionBuilder(std::uint32_t seed, const graph::Shape& input) : parts_(seed), graph_(graph_of(input)) {}

    /// A convolution with a ReLU behind it, same padding or, with a stride above 1, none.
    graph::NodeId convolution(graph::NodeId from, std::uint32_t kernel, std::uint32_t filters,
                              std::uint32_t stride = 1) {
        auto op = parts_.convolution(shape(from), window(kernel, stride), filters, true);
        // As networks are initialized for ReLUs: values neither grow nor vanish from layer to layer.
        const std::size_t fan_in = op->weights.size() / filters;
        const float limit = std::sqrt(6.0F / static_cast<float>(fan_in));
        for (float& weight : op->weights) weight *= limit;
        const graph::NodeId result = append(std::move(op), {from});
        return append(std::make_unique<graph::Activation>(graph::ActivationFunction::Relu), {result});
    }
    graph::NodeId pool(graph::NodeId from, graph::PoolKind kind, std::uint32_t kernel, std::uint32_t stride) {
        return append(std::make_unique<graph::Pool>(kind, window(kernel, stride)), {from});
    }
    graph::NodeId concat(std::vector<graph::NodeId> from) {
        return append(std::make_unique<graph::Concat>(), std::move(from));
    }

    /// 1x1; 1x1 and 3x3; 1x1, 3x3 and 3x3; average pooling and 1x1.
    graph::NodeId module(graph::NodeId from) {
        const graph::NodeId single = convolution(from, 1, number());
        const graph::NodeId small = convolution(convolution(from, 1, number()), 3, number());
        const graph::NodeId large =
            convolution(convolution(convolution(from, 1, number()), 3, number()), 3, number());
        const graph::NodeId pooled = convolution(pool(from, graph::PoolKind::Average, 3, 1), 1, number());
        return concat({single, small, large, pooled});
    }
    /// 3x3; 1x1, 3x3 and 3x3; max pooling: all with stride 2 at the end.
    graph::NodeId reduction(graph::NodeId from) {
        const graph::NodeId small = convolution(from, 3, number(), 2);
        const graph::NodeId large =
            convolution(convolution(convolution(from, 1, number()), 3, number()), 3, number(), 2);
        return concat({small, large, pool(from, graph::PoolKind::Max, 3, 2)});
    }
    graph::NodeId global_average(graph::NodeId from) {
        const graph::Window whole{.kernel_height = shape(from).height, .kernel_width = shape(from).width};
        return append(std::make_unique<graph::Pool>(graph::PoolKind::Average, whole), {from});
    }
    graph::NodeId dense(graph::NodeId from, std::uint32_t units) {
        return append(parts_.dense(shape(from), units, true), {from});
    }

    const graph::Shape& shape(graph::NodeId node) const { return graph_.nodes[node].shape; }
    graph::Graph take() { return std::move(graph_); }

private:
    std::uint32_t number() { return parts_.number(3, 12); }
    static graph::Window window(std::uint32_t kernel, std::uint32_t stride) {
        const std::uint32_t pad = stride == 1 ? kernel / 2 : 0;
        return {.kernel_height = kernel,
                .kernel_width = kernel,
                .stride_y = stride,
                .stride_x = stride,
                .pad_top = pad,
                .pad_left = pad,
                .pad_bottom = pad,
                .pad_right = pad};
    }
    graph::NodeId append(std::unique_ptr<graph::Operator> op, std::vector<graph::NodeId> from) {
        return graph_.append("node" + std::to_string(graph_.nodes.size()), std::move(op), std::move(from));
    }

    GraphParts parts_;
    graph::Graph graph_;
};

/// Two modules, the reduction between them, and a classifier.
inline graph::Graph small_inception(std::uint32_t seed, const graph::Shape& input) {
    InceptionBuilder builder(seed, input);
    graph::NodeId node = builder.convolution(0, 3, 8);
    node = builder.module(builder.reduction(builder.module(node)));
    builder.dense(builder.global_average(node), 10);
    return builder.take();
}

}  // namespace systole::tests
