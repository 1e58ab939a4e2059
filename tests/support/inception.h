#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/graphs.h"

namespace systole::tests {

/// Builds the modules of Inception networks (arXiv:1512.00567) with random weights.
class InceptionBuilder {
public:
    InceptionBuilder(std::uint32_t seed, const ir::FeatureMap& input)
        : parts_(seed), graph_(graph_of(input)) {}

    /// A convolution followed by a ReLU, with same padding, or no padding if the stride is above 1.
    NodeId convolution(NodeId from, std::uint32_t kernel, std::uint32_t filters, std::uint32_t stride = 1) {
        Op made = parts_.convolution(shape(from), window(kernel, stride), filters, true);
        // The usual initialization for ReLUs: values neither grow nor vanish from layer to layer.
        const std::size_t fan_in = made.weights.size() / filters;
        const float limit = std::sqrt(6.0F / static_cast<float>(fan_in));
        for (float& weight : made.weights) weight *= limit;
        const NodeId result = append(made, {from});
        return append(op("relu"), {result});
    }
    NodeId pool(NodeId from, const std::string& kind, std::uint32_t kernel, std::uint32_t stride) {
        return append(tests::pool(kind, window(kernel, stride)), {from});
    }
    NodeId concat(std::vector<NodeId> from) { return append(op("concat"), from); }

    /// 1x1; 1x1 and 3x3; 1x1, 3x3 and 3x3; average pooling and 1x1.
    NodeId module(NodeId from) {
        const NodeId single = convolution(from, 1, number());
        const NodeId small = convolution(convolution(from, 1, number()), 3, number());
        const NodeId large =
            convolution(convolution(convolution(from, 1, number()), 3, number()), 3, number());
        const NodeId pooled = convolution(pool(from, "average_pool", 3, 1), 1, number());
        return concat({single, small, large, pooled});
    }
    /// 3x3; 1x1, 3x3 and 3x3; max pooling: all with stride 2 at the end.
    NodeId reduction(NodeId from) {
        const NodeId small = convolution(from, 3, number(), 2);
        const NodeId large =
            convolution(convolution(convolution(from, 1, number()), 3, number()), 3, number(), 2);
        return concat({small, large, pool(from, "max_pool", 3, 2)});
    }
    NodeId global_average(NodeId from) {
        const ir::Window whole{.kernel_height = shape(from).height, .kernel_width = shape(from).width};
        return append(tests::pool("average_pool", whole), {from});
    }
    NodeId dense(NodeId from, std::uint32_t units) {
        return append(parts_.dense(shape(from), units, true), {from});
    }

    ir::FeatureMap shape(NodeId node) const { return graph_.shape(node); }
    Graph take() { return std::move(graph_); }

private:
    std::uint32_t number() { return parts_.number(3, 12); }
    static ir::Window window(std::uint32_t kernel, std::uint32_t stride) {
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
    NodeId append(const Op& made, const std::vector<NodeId>& from) {
        return graph_.append("node" + std::to_string(graph_.size()), made, from);
    }

    GraphParts parts_;
    Graph graph_;
};

/// Two modules, the reduction between them, and a classifier.
inline Graph small_inception(std::uint32_t seed, const ir::FeatureMap& input) {
    InceptionBuilder builder(seed, input);
    NodeId node = builder.convolution(0, 3, 8);
    node = builder.module(builder.reduction(builder.module(node)));
    builder.dense(builder.global_average(node), 10);
    return builder.take();
}

}  // namespace systole::tests
