#include "sim/studies/article_cnn.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "compiler/frontend/same_padding.h"
#include "compiler/graph/operators/activation.h"
#include "compiler/graph/operators/convolution.h"
#include "compiler/graph/operators/dense.h"
#include "compiler/graph/operators/input.h"
#include "compiler/graph/operators/softmax.h"

namespace systole::studies {
namespace {

using graph::ActivationFunction;
using graph::NodeId;

/// Appends layers, one behind the other.
class Layers {
public:
    Layers(std::string name, const graph::Shape& input) {
        graph_.name = std::move(name);
        graph_.has_weights = false;
        last_ = graph_.append("image", std::make_unique<graph::Input>(input), {});
    }

    void convolution(const std::string& name, std::uint32_t filters, std::uint32_t kernel,
                     std::uint32_t stride) {
        const graph::Shape& input = graph_.nodes[last_].shape;
        auto op = std::make_unique<graph::Convolution>();
        const frontend::Padding rows = frontend::same_padding(input.height, kernel, stride);
        const frontend::Padding columns = frontend::same_padding(input.width, kernel, stride);
        op->window = {.kernel_height = kernel,
                      .kernel_width = kernel,
                      .stride_y = stride,
                      .stride_x = stride,
                      .pad_top = rows.before,
                      .pad_left = columns.before,
                      .pad_bottom = rows.after,
                      .pad_right = columns.after};
        op->in_channels = input.channels;
        op->filters = filters;
        append(name, std::move(op));
        append(name, std::make_unique<graph::Activation>(ActivationFunction::Relu));
    }

    void dense(const std::string& name, std::uint32_t units) {
        auto op = std::make_unique<graph::Dense>();
        op->in_elements = static_cast<std::uint32_t>(graph_.nodes[last_].shape.elements());
        op->units = units;
        append(name, std::move(op));
    }

    void append(const std::string& name, std::unique_ptr<graph::Operator> op) {
        last_ = graph_.append(name, std::move(op), {last_});
    }

    graph::Graph take() && { return std::move(graph_); }

private:
    graph::Graph graph_;
    NodeId last_ = 0;
};

}  // namespace

graph::Graph article_cnn(const ArticleCnn& which) {
    const std::uint32_t side = 28 * which.size_multiplier;
    const std::uint32_t width = which.width_multiplier;
    Layers layers(fmt::format("mnist_cnn, size x{}, width x{}", which.size_multiplier, width),
                  {.height = side, .width = side, .channels = 1});
    layers.convolution("conv2d", 12 * width, 3, 1);
    layers.convolution("conv2d_1", 24 * width, 6, 2);
    layers.convolution("conv2d_2", 64 * width, 6, 2);
    layers.dense("dense", 200 * width);
    layers.append("dense", std::make_unique<graph::Activation>(ActivationFunction::Relu));
    layers.dense("dense_1", 10);
    layers.append("dense_1", std::make_unique<graph::Softmax>());
    return std::move(layers).take();
}

}  // namespace systole::studies
