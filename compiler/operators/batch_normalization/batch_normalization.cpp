// Batch normalization after training: gamma * (x - mean) / sqrt(variance + epsilon) + beta, by channel.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "compiler/ir/model_error.h"
#include "compiler/operators/batch_normalization/affine.h"
#include "compiler/operators/layer_formats.h"
#include "compiler/operators/onnx_images.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/words_builder.h"

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

/// A number for all channels of the layer's input, or one for each; nullopt if the key is absent.
std::optional<std::vector<float>> channel_numbers(const ir::LayerReader& layer, const char* key) {
    const auto numbers = layer.numbers(key);
    if (!numbers) return std::nullopt;
    const std::uint32_t channels = layer.input_map().channels;
    if (numbers->size() != 1 && numbers->size() != channels) {
        layer.fail(key, fmt::format("it must be a number, or {}, one for each channel", channels));
    }
    std::vector<float> values(channels);
    for (std::size_t c = 0; c < channels; ++c) {
        const double number = (*numbers)[numbers->size() == 1 ? 0 : c];
        if (std::abs(number) > double{std::numeric_limits<float>::max()}) layer.fail(key, "it is too large");
        values[c] = static_cast<float>(number);
    }
    return values;
}

/// Reads a Keras Rescaling: scale * x + offset.
ir::ValueId read_keras_rescaling(ir::LayerReader& layer) {
    const std::uint32_t channels = layer.input_map().channels;
    return append_affine(layer, layer.input(),
                         channel_numbers(layer, "scale").value_or(std::vector<float>(channels, 1.0F)),
                         channel_numbers(layer, "offset").value_or(std::vector<float>(channels, 0.0F)));
}

/// Whether a Keras Normalization is by channel; one without an axis has null or an empty list.
bool has_axis(const ir::LayerReader& layer) {
    const auto axes = layer.integers("axis");
    return axes && !axes->empty();
}

/// Mean or variance of a Keras Normalization, by channel: from the layer's keys if they have it, else from
/// the weights, of which there is one if the layer has no axis.
std::vector<float> normalization_values(ir::LayerReader& layer, const char* role) {
    const std::uint32_t channels = layer.input_map().channels;
    if (const auto given = channel_numbers(layer, role)) return *given;
    const bool by_axis = has_axis(layer);
    const ir::ValueId weight = layer.weight(
        {.roles = {role},
         .file_shape = by_axis ? std::vector<std::uint64_t>{channels} : std::vector<std::uint64_t>{},
         .shape = by_axis ? ir::Shape{channels} : ir::Shape{}});
    const std::span<const float> values = known_floats(layer.value(weight));
    if (by_axis) return {values.begin(), values.end()};
    std::vector<float> repeated(channels, values.front());
    return repeated;
}

/// Reads a Keras Normalization: (x - mean) / sqrt(variance), or its inverse.
ir::ValueId read_keras_normalization(ir::LayerReader& layer) {
    constexpr float least_deviation = 1e-7F;  // Keras divides by no less
    if (has_axis(layer)) layer.require_last_axis("axis", layer.input_map().is_vector());
    std::vector<float> mean = normalization_values(layer, "mean");
    std::vector<float> scale = normalization_values(layer, "variance");
    const bool is_inverse = layer.boolean("invert", false);
    for (std::size_t c = 0; c < scale.size(); ++c) {
        if (scale[c] < 0.0F) layer.fail(fmt::format("a variance is {}; it must be at least 0", scale[c]));
        const float deviation = std::max(std::sqrt(scale[c]), least_deviation);
        scale[c] = is_inverse ? deviation : 1.0F / deviation;
        if (!is_inverse) mean[c] = -mean[c] * scale[c];
    }
    return append_affine(layer, layer.input(), std::move(scale), std::move(mean));
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

/// X, scale, bias, mean and variance; the channels are the second extent.
ir::ValueId read_onnx_batch_normalization(ir::LayerReader& layer) {
    constexpr float onnx_epsilon = 1e-5F;
    constexpr std::array roles{"scale", "bias", "mean", "variance"};
    if (onnx_flag(layer, "training_mode", false)) {
        layer.fail("training_mode", "it must be 0: networks are read to be used, not trained");
    }
    if (!onnx_flag(layer, "spatial", true)) layer.fail("spatial", "it must be 1");
    std::vector<ir::ValueId> inputs{layer.inputs().empty() ? ir::no_value : layer.inputs().front()};
    if (inputs.front() == ir::no_value) layer.fail("its first input is absent; it must be given");
    for (std::size_t i = 0; i < roles.size(); ++i) {
        inputs.push_back(constant_input(layer, i + 1, roles.at(i)));
        if (layer.value(inputs.back()).type == DataType::Float32) continue;
        layer.fail(fmt::format("its {} is {}; it must be float32", roles.at(i),
                               name_of(layer.value(inputs.back()).type)));
    }
    const std::size_t rank = layer.value(inputs.front()).shape.rank();
    if (rank != 2) inputs.front() = channels_last(layer, inputs.front());
    const ir::ValueId result = layer.append(
        "batch_normalization", {{"epsilon", double{layer.number("epsilon", onnx_epsilon)}}}, inputs);
    return rank == 2 ? result : channels_first(layer, result, rank);
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
                 .keys = {{"axis", "the last; if it is 1, the layer is between transpositions"},
                          {"epsilon", "`epsilon`"},
                          {"scale", "whether there is a gamma"},
                          {"center", "whether there is a beta"}},
                 .build = read_keras_batch_normalization},
                {.format = ir::Format::Keras,
                 .name = "Rescaling",
                 .keys = {{"scale", "gamma of every channel, or a list"},
                          {"offset", "beta of every channel, or a list"}},
                 .build = read_keras_rescaling},
                {.format = ir::Format::Keras,
                 .name = "Normalization",
                 .keys = {{"axis", "the last, or none; if it is 1, the layer is between transpositions"},
                          {"mean", "if the file has no weights for it"},
                          {"variance", "if the file has no weights for it"},
                          {"invert", "multiply by the deviation and add the mean"}},
                 .build = read_keras_normalization},
                {.format = ir::Format::GraphJson,
                 .name = "batch_normalization",
                 .keys = {{"epsilon", "`epsilon`"}},
                 .build = read_json_batch_normalization},
                {.format = ir::Format::Onnx,
                 .name = "BatchNormalization",
                 .keys = {{"epsilon", "`epsilon`"},
                          {"momentum", "nothing: only training uses it"},
                          {"spatial", "only 1"},
                          {"training_mode", "only 0"}},
                 .build = read_onnx_batch_normalization}};
    }

    LeadingOnes leading_ones(const ir::NodeView& /*node*/) const override { return LeadingOnes::Passed; }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return kept_batch(node, has_batch);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        constexpr std::size_t constants = 4;
        node.require_inputs(1, constants);
        const std::uint32_t channels = node.input_map().channels;
        for (std::size_t i = 0; i < constants; ++i) {
            // Passes compute with them, also in networks without weights.
            if (!node.constant(i)->constant->is_known()) throw ModelError("its constants must have values");
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
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override {
        Affine affine = affine_of(builder.view(node));
        const auto channels = static_cast<std::uint32_t>(affine.scale.size());
        const ir::ValueId scale = builder.constant("scale", {channels}, std::move(affine.scale));
        const ir::ValueId offset = builder.constant("offset", {channels}, std::move(affine.offset));
        builder.set(node.output(),
                    builder.chain({builder.input_of(node), scale, offset},
                                  [](std::span<const Word> in) { return in[0] * in[1] + in[2]; }));
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
