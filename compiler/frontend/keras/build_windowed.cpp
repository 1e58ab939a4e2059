// Layers that move a window over the image: convolutions and pooling.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "compiler/frontend/keras/builders.h"
#include "compiler/frontend/same_padding.h"
#include "compiler/graph/operators/convolution.h"
#include "compiler/graph/operators/depthwise_convolution.h"
#include "compiler/graph/operators/pool.h"

namespace systole::frontend {
namespace {

void require_plain_convolution(const LayerConfig& config) {
    config.require_text("data_format", "channels_last");
    config.require_number("dilation_rate", 1);
    config.require_number("groups", 1);
}

graph::NodeId build_pooling(LayerContext& context, graph::PoolKind kind) {
    context.config.require_text("data_format", "channels_last");
    const auto kernel = context.config.positive_pair("pool_size");
    const graph::Window window =
        read_window(context, kernel, context.config.positive_pair("strides", kernel));
    return context.append(std::make_unique<graph::Pool>(kind, window), {context.input()});
}

graph::NodeId build_global_pooling(LayerContext& context, graph::PoolKind kind) {
    context.config.require_text("data_format", "channels_last");
    const graph::Shape input = context.input_shape();
    const graph::Window window{.kernel_height = input.height, .kernel_width = input.width};
    return context.append(std::make_unique<graph::Pool>(kind, window), {context.input()});
}

}  // namespace

graph::Window read_window(const LayerContext& context, const std::array<std::uint32_t, 2>& kernel,
                          const std::array<std::uint32_t, 2>& strides) {
    graph::Window window{.kernel_height = kernel[0],
                         .kernel_width = kernel[1],
                         .stride_y = strides[0],
                         .stride_x = strides[1]};
    const std::string padding = context.config.text("padding", "valid");
    if (padding == "same") {
        const graph::Shape input = context.input_shape();
        const Padding vertical = same_padding(input.height, kernel[0], strides[0]);
        const Padding horizontal = same_padding(input.width, kernel[1], strides[1]);
        window.pad_top = vertical.before;
        window.pad_bottom = vertical.after;
        window.pad_left = horizontal.before;
        window.pad_right = horizontal.after;
    } else if (padding != "valid") {
        context.config.fail("padding", "it must be \"valid\" or \"same\"");
    }
    return window;
}

graph::NodeId build_convolution(LayerContext& context) {
    const LayerConfig& config = context.config;
    require_plain_convolution(config);
    const auto kernel = config.positive_pair("kernel_size");
    auto convolution = std::make_unique<graph::Convolution>();
    convolution->window = read_window(context, kernel, config.positive_pair("strides", {{1, 1}}));
    convolution->in_channels = context.input_shape().channels;
    convolution->filters = config.positive("filters");
    convolution->weights =
        context.weight({"kernel"}, {kernel[0], kernel[1], convolution->in_channels, convolution->filters});
    if (config.boolean("use_bias", true))
        convolution->bias = context.weight({"bias"}, {convolution->filters});
    return append_own_activation(context, context.append(std::move(convolution), {context.input()}));
}

graph::NodeId build_depthwise_convolution(LayerContext& context) {
    const LayerConfig& config = context.config;
    require_plain_convolution(config);
    const auto kernel = config.positive_pair("kernel_size");
    auto convolution = std::make_unique<graph::DepthwiseConvolution>();
    convolution->window = read_window(context, kernel, config.positive_pair("strides", {{1, 1}}));
    convolution->in_channels = context.input_shape().channels;
    convolution->multiplier = config.positive("depth_multiplier", 1);
    const std::uint64_t channels = std::uint64_t{convolution->in_channels} * convolution->multiplier;
    if (channels > std::numeric_limits<std::uint32_t>::max())
        config.fail("depth_multiplier", "it is too large");
    convolution->weights =
        context.weight({"depthwise_kernel", "kernel"},
                       {kernel[0], kernel[1], convolution->in_channels, convolution->multiplier});
    if (config.boolean("use_bias", true)) convolution->bias = context.weight({"bias"}, {channels});
    return append_own_activation(context, context.append(std::move(convolution), {context.input()}));
}

graph::NodeId build_max_pooling(LayerContext& context) {
    return build_pooling(context, graph::PoolKind::Max);
}
graph::NodeId build_average_pooling(LayerContext& context) {
    return build_pooling(context, graph::PoolKind::Average);
}
graph::NodeId build_global_max_pooling(LayerContext& context) {
    return build_global_pooling(context, graph::PoolKind::Max);
}
graph::NodeId build_global_average_pooling(LayerContext& context) {
    return build_global_pooling(context, graph::PoolKind::Average);
}

}  // namespace systole::frontend
