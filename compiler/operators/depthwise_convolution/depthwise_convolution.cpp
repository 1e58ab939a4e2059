// Convolution of each input channel separately: output channel c * multiplier + m depends on input channel c
// only. Elements outside the image count as 0.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "compiler/ir/model_error.h"
#include "compiler/ir/window.h"
#include "compiler/operators/fixed_point.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/layer_formats.h"
#include "compiler/operators/tflite_weights.h"
#include "compiler/operators/windowed_weights.h"
#include "compiler/operators/words_builder.h"
#include "hw/math/floats/float_values.h"
#include "hw/math/target_clones.h"

namespace systole::operators {
namespace {

/// The channels of the result.
std::uint32_t multiplied_channels(const ir::LayerReader& layer, const char* multiplier_key) {
    const std::uint64_t channels =
        std::uint64_t{layer.input_map().channels} * layer.positive(multiplier_key, 1);
    if (channels > std::numeric_limits<std::uint32_t>::max()) {
        layer.fail(multiplier_key, fmt::format("the result would have {} channels", channels));
    }
    return static_cast<std::uint32_t>(channels);
}

std::vector<ir::NamedAttribute> depthwise_attributes(const ir::Window& window, std::uint32_t multiplier) {
    std::vector<ir::NamedAttribute> attributes = ir::attributes_of(window);
    attributes.emplace_back("multiplier", std::int64_t{multiplier});
    return attributes;
}

/// Keras' shape of a depthwise kernel; layers over sequences have no height.
std::vector<std::uint64_t> keras_kernel_shape(const ir::Window& window, bool is_sequence,
                                              std::uint32_t in_channels, std::uint32_t out_channels) {
    if (is_sequence) return {window.kernel_width, in_channels, out_channels};
    return {window.kernel_height, window.kernel_width, in_channels, out_channels};
}

ir::Window keras_depthwise_window(const ir::LayerReader& layer, bool is_sequence) {
    layer.require_text("data_format", "channels_last");
    layer.require_number("groups", 1);
    if (is_sequence) {
        return keras_sequence_window(layer, keras_length(layer, "kernel_size"),
                                     keras_length(layer, "strides", 1),
                                     keras_length(layer, "dilation_rate", 1));
    }
    const auto kernel = layer.positive_pair("kernel_size");
    return keras_window(layer, kernel, layer.positive_pair("strides", {{1, 1}}),
                        layer.positive_pair("dilation_rate", {{1, 1}}));
}

/// Reads a depthwise convolution and the 1x1 convolution behind it that Keras has in one layer.
ir::ValueId read_keras_separable(ir::LayerReader& layer, bool is_sequence) {
    const ir::Window window = keras_depthwise_window(layer, is_sequence);
    const std::uint32_t in_channels = layer.input_map().channels;
    const std::uint32_t multiplier = layer.positive("depth_multiplier", 1);
    const std::uint32_t channels = multiplied_channels(layer, "depth_multiplier");
    const std::uint32_t filters = layer.positive("filters");
    const ir::ValueId depthwise =
        layer.weight({.roles = {"depthwise_kernel"},
                      .file_shape = keras_kernel_shape(window, is_sequence, in_channels, multiplier),
                      .shape = {window.kernel_height, window.kernel_width, 1, channels},
                      .is_counted = true});
    const ir::ValueId middle = layer.append("depthwise_convolution", depthwise_attributes(window, multiplier),
                                            {layer.input(), depthwise});
    const LayerWeights pointwise{
        .kernel = {.roles = {"pointwise_kernel"},
                   .file_shape = keras_kernel_shape({}, is_sequence, channels, filters),
                   .shape = {1, 1, channels, filters},
                   .is_counted = true},
        .channels = filters,
        .bias_key = "use_bias"};
    const ir::ValueId result = layer.append("convolution", ir::attributes_of(ir::Window{}),
                                            with_weights(layer, {middle}, pointwise));
    const ir::ValueId function = layer.append_function("activation", result);
    return is_sequence ? as_sequence(layer, function) : function;
}

ir::LayerKind keras_separable_convolution(const char* name, bool is_sequence) {
    return {ir::Format::Keras, name,
            keras_convolution_keys({{"depth_multiplier", "`multiplier`"},
                                    {"filters", "the filters of the 1x1 `convolution` behind it"},
                                    {"groups", "only 1"}}),
            [is_sequence](ir::LayerReader& layer) { return read_keras_separable(layer, is_sequence); }};
}

ir::LayerKind keras_sequence_depthwise() {
    return {ir::Format::Keras, "DepthwiseConv1D",
            keras_convolution_keys({{"depth_multiplier", "`multiplier`"}, {"groups", "only 1"}}),
            [](ir::LayerReader& layer) {
                const ir::Window window = keras_depthwise_window(layer, true);
                const std::uint32_t in_channels = layer.input_map().channels;
                const std::uint32_t multiplier = layer.positive("depth_multiplier", 1);
                const std::uint32_t channels = multiplied_channels(layer, "depth_multiplier");
                return append_sequence_windowed(
                    layer, "depthwise_convolution", depthwise_attributes(window, multiplier),
                    {.kernel = {.roles = {"depthwise_kernel", "kernel"},
                                .file_shape = keras_kernel_shape(window, true, in_channels, multiplier),
                                .shape = {1, window.kernel_width, 1, channels},
                                .is_counted = true},
                     .channels = channels,
                     .bias_key = "use_bias"});
            }};
}

ir::ValueId append_depthwise(ir::LayerReader& layer, const ir::Window& window, const char* multiplier_key,
                             const char* bias_key) {
    const std::uint32_t in_channels = layer.input_map().channels;
    const std::uint32_t multiplier = layer.positive(multiplier_key, 1);
    const std::uint32_t channels = multiplied_channels(layer, multiplier_key);
    const double fan_in = static_cast<double>(window.kernel_height) * window.kernel_width;
    const LayerWeights weights{
        .kernel = {.roles = {"depthwise_kernel", "kernel"},
                   .file_shape = {window.kernel_height, window.kernel_width, in_channels, multiplier},
                   .shape = {window.kernel_height, window.kernel_width, 1, channels},
                   .limit = drawn_limit(layer, fan_in),
                   .is_counted = true},
        .channels = channels,
        .bias_key = bias_key};
    return append_windowed(layer, "depthwise_convolution", depthwise_attributes(window, multiplier), weights);
}

ir::LayerKind keras_depthwise_convolution() {
    return {ir::Format::Keras, "DepthwiseConv2D",
            keras_convolution_keys({{"depth_multiplier", "`multiplier`"}, {"groups", "only 1"}}),
            [](ir::LayerReader& layer) {
                return append_depthwise(layer, keras_depthwise_window(layer, false), "depth_multiplier",
                                        "use_bias");
            }};
}

ir::LayerKind json_depthwise_convolution() {
    return {ir::Format::GraphJson, "depthwise_convolution",
            json_convolution_keys({{"multiplier", "`multiplier`"}}), [](ir::LayerReader& layer) {
                return append_depthwise(
                    layer, json_window(layer, {{1, 1}}, layer.positive_pair("dilation", {{1, 1}})),
                    "multiplier", "bias");
            }};
}

/// sums[c] = fma(pixel[c / multiplier], weights[c], sums[c]), settled.
SYSTOLE_TARGET_CLONES void multiply_add_settled(const float* pixel, std::size_t multiplier,
                                                const float* weights, std::size_t channels, float* sums) {
    if (multiplier == 1) {
        for (std::size_t c = 0; c < channels; ++c) {
            sums[c] = math::settled(__builtin_fmaf(pixel[c], weights[c], sums[c]));
        }
        return;
    }
    for (std::size_t c = 0; c < channels; ++c) {
        sums[c] = math::settled(__builtin_fmaf(pixel[c / multiplier], weights[c], sums[c]));
    }
}

ir::ValueId rounded(WordsBuilder& builder, ir::ValueId x) {
    return builder.chain({x}, [](std::span<const Word> in) { return round_to_bfloat16(in[0]); });
}

ir::ValueId rounded_weights(WordsBuilder& builder, ir::ValueId weights) {
    const ir::Value& value = builder.value(weights);
    if (!value.constant) return rounded(builder, weights);
    if (!value.constant->is_known()) return weights;
    const std::span<const float> given = value.constant->values<float>();
    std::vector<float> elements(given.size());
    std::ranges::transform(given, elements.begin(), math::rounded_to_bfloat16);
    const ir::Shape shape = value.shape;  // the value moves when another one is added
    return builder.constant("weights", shape, std::move(elements));
}

class DepthwiseConvolution final : public WindowedWeights {
public:
    std::string_view name() const override { return "depthwise_convolution"; }
    std::string_view summary() const override {
        return "Convolution of each input channel separately: output channel c * multiplier + m depends on "
               "input channel c only. Weights: [kernel row][kernel column][1][output channel]; optional "
               "bias: [output channel].";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations = [] {
            std::vector<ir::AttributeDeclaration> list = shared_attributes();
            list.push_back({.name = "multiplier",
                            .meaning = "output channels of each input channel",
                            .absent = std::int64_t{1},
                            .minimum = 1,
                            .maximum = std::numeric_limits<std::uint32_t>::max()});
            list.push_back(
                {.name = "in_order",
                 .meaning =
                     "1: of float32: a sum begins with 0 and adds the products of the elements inside the "
                     "image, in the order of the weights, one after the other, rounded once (fma) and "
                     "settled; the bias comes last; 0: any order",
                 .absent = std::int64_t{0},
                 .minimum = 0,
                 .maximum = 1});
            return list;
        }();
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {keras_depthwise_convolution(),
                keras_sequence_depthwise(),
                keras_separable_convolution("SeparableConv2D", false),
                keras_separable_convolution("SeparableConv1D", true),
                json_depthwise_convolution(),
                tflite_depthwise_convolution()};
    }

    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        const ir::Shape kernel = checked_kernel(node);
        const std::uint32_t channels = node.input_map().channels;
        const std::int64_t multiplier = node.node().integer("multiplier");
        if (channels * multiplier != kernel[3]) {
            throw ModelError(fmt::format("its input has {} channels; its weights are for {}", channels,
                                         kernel[3] / multiplier));
        }
        if (kernel[2] != 1) {
            throw ModelError(fmt::format("its weights are {}; its window has a {}", to_text(kernel),
                                         to_text(ir::window_of(node.node()))));
        }
        return {result_shape(node)};
    }

protected:
    ir::ValueId words_product(const ir::Node& node, WordsBuilder& builder) const override {
        const ir::Window window = ir::window_of(node);
        const std::int64_t multiplier = node.integer("multiplier");
        // The vector unit multiplies float32; operands of a product at the default precision are bfloat16.
        const bool is_rounded = builder.options().precision == "default";
        const ir::ValueId given = builder.input_of(node, 0);
        const ir::ValueId x = is_rounded ? rounded(builder, given) : given;
        const ir::ValueId weights =
            is_rounded ? rounded_weights(builder, builder.input_of(node, 1)) : builder.input_of(node, 1);
        if (window == ir::Window{} && multiplier == 1) {
            // One product for each element: no sum.
            const ir::ValueId image =
                builder.reshape(x, ir::image_shape(ir::feature_map(builder.shape_of(x))));
            return builder.chain({image, weights}, [](std::span<const Word> in) { return in[0] * in[1]; });
        }
        std::vector<ir::NamedAttribute> attributes =
            depthwise_attributes(window, static_cast<std::uint32_t>(multiplier));
        attributes.emplace_back("in_order", std::int64_t{1});
        return append_words_product(builder, name(), std::move(attributes), x, weights);
    }

    void evaluate_products(const FloatCall& call) const override {
        const ir::FeatureMap input = call.node.input_map();
        const ir::FeatureMap result = call.node.output_map();
        const ir::Window window = ir::window_of(call.node.node());
        if (call.node.node().integer("in_order") != 0) return evaluate_in_order(call);
        const float* const weights = call.parameter(0);
        const float* const bias = call.parameter(1);
        const std::size_t in_channels = input.channels;
        const std::size_t channels = result.channels;
        const std::size_t multiplier = channels / in_channels;
        const auto add_pixel = [&](const float* pixel, const float* weight, float* sums) {
            if (multiplier == 1) {
                for (std::size_t c = 0; c < channels; ++c) sums[c] += pixel[c] * weight[c];
                return;
            }
            for (std::size_t c = 0; c < in_channels; ++c) {
                for (std::size_t m = 0; m < multiplier; ++m) *sums++ += pixel[c] * *weight++;
            }
        };
        float* sums = call.output;
        for (std::uint32_t image = 0; image < call.batch; ++image) {
            const float* const pixels = call.inputs[0] + image * input.elements();
            for (std::uint32_t y = 0; y < result.height; ++y) {
                const ir::WindowSpan rows = vertical_span(input, window, y);
                for (std::uint32_t x = 0; x < result.width; ++x, sums += channels) {
                    const ir::WindowSpan columns = horizontal_span(input, window, x);
                    if (bias == nullptr) {
                        std::fill_n(sums, channels, 0.0F);
                    } else {
                        std::copy_n(bias, channels, sums);
                    }
                    for (std::uint32_t row = rows.first; row < rows.last; ++row) {
                        for (std::uint32_t column = columns.first; column < columns.last; ++column) {
                            const std::size_t pixel = rows.under(row) * input.width + columns.under(column);
                            const std::size_t tap = std::size_t{row} * window.kernel_width + column;
                            add_pixel(pixels + pixel * in_channels, weights + tap * channels, sums);
                        }
                    }
                }
            }
        }
    }

    static void evaluate_in_order(const FloatCall& call) {
        const ir::FeatureMap input = call.node.input_map();
        const ir::FeatureMap result = call.node.output_map();
        const ir::Window window = ir::window_of(call.node.node());
        const std::size_t channels = result.channels;
        const std::size_t multiplier = channels / input.channels;
        float* sums = call.output;
        std::fill_n(sums, call.batch * result.elements(), 0.0F);
        for (std::uint32_t image = 0; image < call.batch; ++image) {
            const float* const pixels = call.inputs[0] + image * input.elements();
            for_each_pixel(result, [&](std::uint32_t y, std::uint32_t x, std::size_t /*element*/) {
                for_each_in_window(input, window, y, x, [&](std::size_t pixel, std::size_t tap) {
                    multiply_add_settled(pixels + pixel * input.channels, multiplier,
                                         call.parameter(0) + tap * channels, channels, sums);
                });
                sums += channels;
            });
        }
        add_settled_bias(call.output, call.parameter(1), call.batch * result.elements() / channels, channels);
    }

    void add_pixel(const ir::Node& /*node*/, const std::int32_t* pixel, std::size_t channels,
                   std::int32_t zero_point, const std::int8_t* weights,
                   std::vector<std::int32_t>& sums) const override {
        const std::size_t multiplier = sums.size() / channels;
        for (std::size_t c = 0; c < sums.size(); ++c) {
            const std::int64_t value = pixel[c / multiplier] - zero_point;
            sums[c] = wrap(sums[c] + value * weights[c]);
        }
    }
    void add_pixel_sums(const ir::Node& /*node*/, const std::vector<std::int32_t>& by_channel,
                        std::int32_t factor, std::vector<std::int32_t>& sums) const override {
        const std::size_t multiplier = sums.size() / by_channel.size();
        for (std::size_t c = 0; c < sums.size(); ++c) {
            sums[c] = wrapping_add(sums[c], wrapping_multiply(factor, by_channel[c / multiplier]));
        }
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_depthwise_convolution() {
    return std::make_unique<DepthwiseConvolution>();
}

}  // namespace systole::operators
