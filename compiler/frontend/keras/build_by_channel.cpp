// Layers of weights without windows: dense layers and normalizations.
#include "compiler/frontend/keras/builders.h"
#include "compiler/graph/operators/batch_normalization.h"
#include "compiler/graph/operators/convolution.h"
#include "compiler/graph/operators/dense.h"

namespace systole::frontend {
namespace {

bool is_flat(const graph::Shape& shape) {
    return shape.height == 1 && shape.width == 1;
}

}  // namespace

graph::NodeId build_dense(LayerContext& context) {
    const graph::Shape input = context.input_shape();
    const std::uint32_t units = context.config.positive("units");
    std::vector<float> weights = context.weight({"kernel"}, {input.channels, units});
    std::vector<float> bias;
    if (context.config.boolean("use_bias", true)) bias = context.weight({"bias"}, {units});
    if (!is_flat(input)) {
        // A dense layer sees the last axis alone: over an image it is a convolution of single pixels.
        auto convolution = std::make_unique<graph::Convolution>();
        convolution->in_channels = input.channels;
        convolution->filters = units;
        convolution->weights = std::move(weights);
        convolution->bias = std::move(bias);
        return append_own_activation(context, context.append(std::move(convolution), {context.input()}));
    }
    auto dense = std::make_unique<graph::Dense>();
    dense->in_elements = input.channels;
    dense->units = units;
    dense->weights = std::move(weights);
    dense->bias = std::move(bias);
    return append_own_activation(context, context.append(std::move(dense), {context.input()}));
}

graph::NodeId build_batch_normalization(LayerContext& context) {
    const LayerConfig& config = context.config;
    const graph::Shape input = context.input_shape();
    config.require_last_axis("axis", is_flat(input));
    auto normalization = std::make_unique<graph::BatchNormalization>();
    normalization->epsilon = config.number("epsilon", normalization->epsilon);
    const std::vector<std::uint64_t> by_channel{input.channels};
    normalization->gamma = config.boolean("scale", true) ? context.weight({"gamma"}, by_channel)
                                                         : std::vector<float>(input.channels, 1.0F);
    normalization->beta = config.boolean("center", true) ? context.weight({"beta"}, by_channel)
                                                         : std::vector<float>(input.channels, 0.0F);
    normalization->mean = context.weight({"moving_mean"}, by_channel);
    normalization->variance = context.weight({"moving_variance"}, by_channel);
    return context.append(std::move(normalization), {context.input()});
}

graph::NodeId build_rescaling(LayerContext& context) {
    const std::size_t channels = context.input_shape().channels;
    auto normalization = std::make_unique<graph::BatchNormalization>();
    normalization->epsilon = 0.0F;
    normalization->gamma.assign(channels, context.config.number("scale", 1.0F));
    normalization->beta.assign(channels, context.config.number("offset", 0.0F));
    normalization->mean.assign(channels, 0.0F);
    normalization->variance.assign(channels, 1.0F);
    return context.append(std::move(normalization), {context.input()});
}

}  // namespace systole::frontend
