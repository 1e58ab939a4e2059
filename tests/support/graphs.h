#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/graph/operators/batch_normalization.h"
#include "compiler/graph/operators/convolution.h"
#include "compiler/graph/operators/dense.h"
#include "compiler/graph/operators/depthwise_convolution.h"
#include "compiler/graph/operators/input.h"

namespace systole::tests {

/// Draws the parts of float graphs. The seed stands in every message of a test that uses it.
class GraphParts {
public:
    explicit GraphParts(std::uint32_t seed) : random_(seed) {}

    std::uint32_t number(std::uint32_t first, std::uint32_t last) {
        return std::uniform_int_distribution<std::uint32_t>(first, last)(random_);
    }
    std::vector<float> values(std::uint64_t count, float low = -1.0F, float high = 1.0F) {
        std::uniform_real_distribution<float> distribution(low, high);
        std::vector<float> drawn(count);
        for (float& value : drawn) value = distribution(random_);
        return drawn;
    }
    graph::Shape shape() { return {number(1, 9), number(1, 9), number(1, 5)}; }
    /// A window that fits the shape; each padding smaller than the kernel.
    graph::Window window(const graph::Shape& shape) {
        graph::Window window;
        window.kernel_height = number(1, shape.height);
        window.kernel_width = number(1, shape.width);
        window.stride_y = number(1, 3);
        window.stride_x = number(1, 3);
        window.pad_top = number(0, window.kernel_height - 1);
        window.pad_bottom = number(0, window.kernel_height - 1);
        window.pad_left = number(0, window.kernel_width - 1);
        window.pad_right = number(0, window.kernel_width - 1);
        return window;
    }
    std::unique_ptr<graph::Convolution> convolution(const graph::Shape& input, const graph::Window& window,
                                                    std::uint32_t filters, bool bias) {
        auto op = std::make_unique<graph::Convolution>();
        op->window = window;
        op->in_channels = input.channels;
        op->filters = filters;
        op->weights =
            values(std::uint64_t{window.kernel_height} * window.kernel_width * input.channels * filters);
        if (bias) op->bias = values(filters);
        return op;
    }
    std::unique_ptr<graph::DepthwiseConvolution> depthwise(const graph::Shape& input,
                                                           const graph::Window& window,
                                                           std::uint32_t multiplier, bool bias) {
        auto op = std::make_unique<graph::DepthwiseConvolution>();
        op->window = window;
        op->in_channels = input.channels;
        op->multiplier = multiplier;
        op->weights = values(std::uint64_t{window.kernel_height} * window.kernel_width * op->out_channels());
        if (bias) op->bias = values(op->out_channels());
        return op;
    }
    std::unique_ptr<graph::Dense> dense(const graph::Shape& input, std::uint32_t units, bool bias) {
        auto op = std::make_unique<graph::Dense>();
        op->in_elements = static_cast<std::uint32_t>(input.elements());
        op->units = units;
        op->weights = values(input.elements() * units);
        if (bias) op->bias = values(units);
        return op;
    }
    std::unique_ptr<graph::BatchNormalization> batch_normalization(std::uint32_t channels) {
        auto op = std::make_unique<graph::BatchNormalization>();
        op->gamma = values(channels, -2.0F, 2.0F);
        op->beta = values(channels);
        op->mean = values(channels);
        op->variance = values(channels, 0.1F, 3.0F);
        return op;
    }

private:
    std::mt19937 random_;
};

/// A graph that begins with an input of this shape.
inline graph::Graph graph_of(const graph::Shape& input) {
    graph::Graph graph{.name = "made", .nodes = {}};
    graph.append("input", std::make_unique<graph::Input>(input), {});
    return graph;
}

/// Computes one operator on one packed input.
inline std::vector<float> evaluate(const graph::Operator& op, const graph::Shape& shape,
                                   const std::vector<float>& input, std::uint32_t batch) {
    const std::vector<graph::Shape> shapes{shape};
    const std::vector<const float*> inputs{input.data()};
    std::vector<float> output(batch * op.output_shape(shapes).elements());
    op.evaluate(shapes, inputs, batch, output.data());
    return output;
}

/// The largest difference, or infinity where the sizes differ.
inline double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
    if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
    double largest = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double difference = std::abs(double{a[i]} - double{b[i]});
        if (!(difference <= largest)) largest = difference;
    }
    return largest;
}

}  // namespace systole::tests
