// Layers that multiply by weights.
#include <fmt/format.h>

#include <limits>

#include "compiler/frontend/graph_json/builders.h"
#include "compiler/graph/operators/batch_normalization.h"
#include "compiler/graph/operators/convolution.h"
#include "compiler/graph/operators/dense.h"
#include "compiler/graph/operators/depthwise_convolution.h"

namespace systole::frontend::graph_json {
namespace {

constexpr std::array<std::uint32_t, 2> every_pixel{1, 1};

double kernel_elements(const graph::Window& window) {
    return static_cast<double>(window.kernel_height) * window.kernel_width;
}

}  // namespace

graph::NodeId build_dense(LayerContext& context) {
    std::uint64_t elements = 0;
    for (const graph::NodeId input : context.inputs) elements += context.shape_of(input).elements();
    if (elements > graph::maximum_elements) {
        context.config.fail(fmt::format("its inputs have {} elements together; there may be at most {}",
                                        elements, graph::maximum_elements));
    }
    auto dense = std::make_unique<graph::Dense>();
    dense->in_elements = static_cast<std::uint32_t>(elements);
    dense->units = context.config.positive("units");
    dense->weights = context.kernel({dense->in_elements, dense->units}, dense->in_elements);
    dense->bias = context.bias(dense->units);
    return context.append_own_activation(context.append(std::move(dense), context.inputs));
}

graph::NodeId build_convolution(LayerContext& context) {
    auto convolution = std::make_unique<graph::Convolution>();
    const graph::Window window = read_window(context, every_pixel);
    convolution->window = window;
    convolution->in_channels = context.input_shape().channels;
    convolution->filters = context.config.positive("filters");
    convolution->weights = context.kernel(
        {window.kernel_height, window.kernel_width, convolution->in_channels, convolution->filters},
        kernel_elements(window) * convolution->in_channels);
    convolution->bias = context.bias(convolution->filters);
    return context.append_own_activation(context.append(std::move(convolution), {context.input()}));
}

graph::NodeId build_depthwise_convolution(LayerContext& context) {
    auto convolution = std::make_unique<graph::DepthwiseConvolution>();
    const graph::Window window = read_window(context, every_pixel);
    convolution->window = window;
    convolution->in_channels = context.input_shape().channels;
    convolution->multiplier = context.config.positive("multiplier", 1);
    const std::uint64_t channels = std::uint64_t{convolution->in_channels} * convolution->multiplier;
    if (channels > std::numeric_limits<std::uint32_t>::max()) {
        context.config.fail("multiplier", fmt::format("the result would have {} channels", channels));
    }
    convolution->weights = context.kernel(
        {window.kernel_height, window.kernel_width, convolution->in_channels, convolution->multiplier},
        kernel_elements(window));
    convolution->bias = context.bias(channels);
    return context.append_own_activation(context.append(std::move(convolution), {context.input()}));
}

graph::NodeId build_batch_normalization(LayerContext& context) {
    // Around the values that change nothing.
    constexpr double spread = 0.1;
    const std::size_t channels = context.input_shape().channels;
    const auto around = [&](float center, const char* role) {
        std::vector<float> values = context.values(channels, spread, role);
        values.resize(channels);
        for (float& value : values) value += center;
        return values;
    };
    auto normalization = std::make_unique<graph::BatchNormalization>();
    normalization->epsilon = context.config.number("epsilon", normalization->epsilon);
    if (normalization->epsilon < 0.0F) context.config.fail("epsilon", "it must be at least 0");
    normalization->gamma = around(1.0F, "gamma");
    normalization->beta = around(0.0F, "beta");
    normalization->mean = around(0.0F, "mean");
    normalization->variance = around(1.0F, "variance");
    return context.append(std::move(normalization), {context.input()});
}

}  // namespace systole::frontend::graph_json
