// Batch normalization after training: gamma * (x - mean) / sqrt(variance + epsilon) + beta, by channel.
#include <fmt/format.h>

#include <cmath>

#include "compiler/ir/model_error.h"
#include "compiler/operators/batch_normalization/affine.h"
#include "compiler/operators/operator.h"

namespace systole::operators {
namespace {

constexpr float default_epsilon = 1e-3F;

ir::ValueId by_channel(ir::LayerReader& layer, const char* role, float value) {
    const std::uint32_t channels = layer.input_map().channels;
    return layer.constant(role, {channels}, std::vector<float>(channels, value));
}

ir::ValueId append_batch_normalization(ir::LayerReader& layer, float epsilon,
                                       std::vector<ir::ValueId> constants) {
    constants.insert(constants.begin(), layer.input());
    return layer.append("batch_normalization", {{"epsilon", double{epsilon}}}, std::move(constants));
}

ir::ValueId read_keras_batch_normalization(ir::LayerReader& layer) {
    const ir::FeatureMap input = layer.input_map();
    layer.require_last_axis("axis", input.is_vector());
    const float epsilon = layer.number("epsilon", default_epsilon);
    const auto weight = [&](const char* role) {
        return layer.weight({.roles = {role}, .file_shape = {input.channels}, .shape = {input.channels}});
    };
    const ir::ValueId gamma =
        layer.boolean("scale", true) ? weight("gamma") : by_channel(layer, "gamma", 1.0F);
    const ir::ValueId beta = layer.boolean("center", true) ? weight("beta") : by_channel(layer, "beta", 0.0F);
    const ir::ValueId mean = weight("moving_mean");
    return append_batch_normalization(layer, epsilon, {gamma, beta, mean, weight("moving_variance")});
}

/// Reads a Keras Rescaling, scale * x + offset, as a normalization with mean 0 and variance 1.
ir::ValueId read_keras_rescaling(ir::LayerReader& layer) {
    const ir::ValueId gamma = by_channel(layer, "gamma", layer.number("scale", 1.0F));
    const ir::ValueId beta = by_channel(layer, "beta", layer.number("offset", 0.0F));
    const ir::ValueId mean = by_channel(layer, "mean", 0.0F);
    return append_batch_normalization(layer, 0.0F, {gamma, beta, mean, by_channel(layer, "variance", 1.0F)});
}

ir::ValueId read_json_batch_normalization(ir::LayerReader& layer) {
    // Drawn values scatter around those of the identity.
    constexpr double spread = 0.1;
    const std::uint32_t channels = layer.input_map().channels;
    const float epsilon = layer.number("epsilon", default_epsilon);
    if (epsilon < 0.0F) layer.fail("epsilon", "it must be at least 0");
    const auto around = [&](double center, const char* role) {
        return layer.weight({.roles = {role},
                             .file_shape = {channels},
                             .shape = {channels},
                             .limit = spread,
                             .center = center,
                             .always_known = true});
    };
    const ir::ValueId gamma = around(1.0, "gamma");
    const ir::ValueId beta = around(0.0, "beta");
    const ir::ValueId mean = around(0.0, "mean");
    return append_batch_normalization(layer, epsilon, {gamma, beta, mean, around(1.0, "variance")});
}

class BatchNormalization final : public Operator {
public:
    std::string_view name() const override { return "batch_normalization"; }
    std::string_view summary() const override {
        return "Batch normalization after training: gamma * (x - mean) / sqrt(variance + epsilon) + beta, by "
               "channel. Constants: gamma, beta, mean, variance: [channel].";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            {.name = "epsilon", .meaning = "added to the variance", .absent = double{default_epsilon}}};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Keras,
                 .name = "BatchNormalization",
                 .keys = {{"axis", "only the last"},
                          {"epsilon", "`epsilon`"},
                          {"scale", "whether there is a gamma"},
                          {"center", "whether there is a beta"}},
                 .build = read_keras_batch_normalization},
                {.format = ir::Format::Keras,
                 .name = "Rescaling",
                 .keys = {{"scale", "gamma of every channel"}, {"offset", "beta of every channel"}},
                 .build = read_keras_rescaling},
                {.format = ir::Format::GraphJson,
                 .name = "batch_normalization",
                 .keys = {{"epsilon", "`epsilon`"}},
                 .build = read_json_batch_normalization}};
    }

    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        constexpr std::size_t constants = 4;
        node.require_inputs(1, constants);
        const std::uint32_t channels = node.input_map().channels;
        for (std::size_t i = 0; i < constants; ++i) {
            if (node.constant(i)->shape.elements() == channels) continue;
            throw ModelError(fmt::format("its input has {} channels; its weights are for {}", channels,
                                         node.constant(i)->shape.elements()));
        }
        const float epsilon = epsilon_of(node.node());
        for (const float value : node.constant(3)->constant->values<float>()) {
            if (!(value + epsilon > 0.0F)) {
                throw ModelError(fmt::format("a variance is {} and epsilon {}; their sum must be above 0",
                                             value, epsilon));
            }
        }
        return {node.input().shape};
    }
    Placement placement() const override {
        return {.where = "as part of the weights before it, else as a 1x1 depthwise convolution",
                .formats = "float32"};
    }
    void evaluate(const FloatCall& call) const override {
        const ir::FeatureMap map = call.node.input_map();
        const Affine by_channel_values = affine_of(call.node);
        const std::size_t pixels = call.batch * (std::size_t{map.height} * map.width);
        const float* input = call.inputs[0];
        float* output = call.output;
        for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
            for (std::size_t c = 0; c < map.channels; ++c) {
                *output++ = *input++ * by_channel_values.scale[c] + by_channel_values.offset[c];
            }
        }
    }

    static float epsilon_of(const ir::Node& node) { return static_cast<float>(node.real("epsilon")); }
};

}  // namespace

Affine affine_of(const ir::NodeView& node) {
    const std::span<const float> gamma = known_floats(*node.constant(0));
    const std::span<const float> beta = known_floats(*node.constant(1));
    const std::span<const float> mean = known_floats(*node.constant(2));
    const std::span<const float> variance = known_floats(*node.constant(3));
    const double epsilon = BatchNormalization::epsilon_of(node.node());
    Affine result;
    for (std::size_t c = 0; c < gamma.size(); ++c) {
        const double scale = gamma[c] / std::sqrt(double{variance[c]} + epsilon);
        result.scale.push_back(static_cast<float>(scale));
        result.offset.push_back(static_cast<float>(beta[c] - mean[c] * scale));
    }
    return result;
}

std::unique_ptr<ir::Operator> make_batch_normalization() {
    return std::make_unique<BatchNormalization>();
}

}  // namespace systole::operators
