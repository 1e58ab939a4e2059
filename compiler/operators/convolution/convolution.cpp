// Two-dimensional convolution over all input channels, or over those of a group; elements outside the image
// count as 0.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "compiler/ir/model_error.h"
#include "compiler/ir/window.h"
#include "compiler/operators/convolution/onnx.h"
#include "compiler/operators/fixed_point.h"
#include "compiler/operators/layer_formats.h"
#include "compiler/operators/tflite_weights.h"
#include "compiler/operators/weighted.h"
#include "compiler/operators/windowed_weights.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {
namespace {

/// Writes the elements under one window in the order of the weights; elements outside the image are 0.
class WindowGatherer {
public:
    WindowGatherer(const ir::FeatureMap& input, const ir::Window& window, const ir::FeatureMap& output)
        : input_(input), window_(window), line_(std::size_t{window.kernel_width} * input.channels) {
        for (std::uint32_t y = 0; y < output.height; ++y) rows_.push_back(vertical_span(input, window, y));
        for (std::uint32_t x = 0; x < output.width; ++x)
            columns_.push_back(horizontal_span(input, window, x));
    }

    void gather(const float* image, std::uint32_t y, std::uint32_t x, float* to) const {
        const ir::WindowSpan& rows = rows_[y];
        const ir::WindowSpan& columns = columns_[x];
        const std::size_t channels = input_.channels;
        const std::size_t before = columns.first * channels;
        const std::size_t inside = (columns.last - columns.first) * channels;
        for (std::uint32_t row = 0; row < window_.kernel_height; ++row, to += line_) {
            if (row < rows.first || row >= rows.last || inside == 0) {
                std::fill_n(to, line_, 0.0F);
                continue;
            }
            const float* const image_row = image + rows.under(row) * input_.width * channels;
            std::fill_n(to, before, 0.0F);
            if (columns.step == 1) {
                std::copy_n(image_row + columns.under(columns.first) * channels, inside, to + before);
            } else {
                for (std::uint32_t column = columns.first; column < columns.last; ++column) {
                    std::copy_n(image_row + columns.under(column) * channels, channels,
                                to + column * channels);
                }
            }
            std::fill_n(to + before + inside, line_ - before - inside, 0.0F);
        }
    }

private:
    ir::FeatureMap input_;
    ir::Window window_;
    std::size_t line_;
    std::vector<ir::WindowSpan> rows_;
    std::vector<ir::WindowSpan> columns_;
};

/// The images of a group of channels, and what is computed from them.
struct ConvolutionWork {
    ir::FeatureMap input;
    ir::FeatureMap result;
    ir::Window window;
    std::uint32_t batch = 0;
    SumOrder order;
};

void add_ordered_bias(const ConvolutionWork& work, float* sums, const float* bias, std::size_t rows) {
    const auto add = work.order.tile == 0 ? add_bias : add_settled_bias;
    add(sums, bias, rows, work.result.channels);
}

/// Computes a convolution over all channels, as a matrix product over gathered windows, in pieces that fit in
/// the cache.
void convolve(const ConvolutionWork& work, const float* images, const float* weights, const float* bias,
              float* output) {
    const std::size_t filters = work.result.channels;
    const std::size_t depth = work.window.kernel_elements() * work.input.channels;
    const std::size_t pixels = std::size_t{work.result.height} * work.result.width;
    const std::size_t rows = work.batch * pixels;
    const OrderedWeights ordered(weights, depth, filters, work.order);
    if (work.window == ir::Window{}) {
        ordered.multiply(images, output, rows);
        add_ordered_bias(work, output, bias, rows);
        return;
    }
    constexpr std::size_t piece_elements = std::size_t{1} << 16;
    const std::size_t piece_rows = std::clamp<std::size_t>(piece_elements / depth, 1, rows);
    const WindowGatherer gatherer(work.input, work.window, work.result);
    std::vector<float> gathered(piece_rows * depth);
    for (std::size_t first = 0; first < rows; first += piece_rows) {
        const std::size_t count = std::min(piece_rows, rows - first);
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t image = (first + i) / pixels;
            const std::size_t pixel = (first + i) % pixels;
            gatherer.gather(
                images + image * work.input.elements(), static_cast<std::uint32_t>(pixel / work.result.width),
                static_cast<std::uint32_t>(pixel % work.result.width), gathered.data() + i * depth);
        }
        float* const piece = output + first * filters;
        ordered.multiply(gathered.data(), piece, count);
        add_ordered_bias(work, piece, bias, count);
    }
}

/// Copies columns [first, first + count) of the rows of a matrix to or from a matrix that has only these.
void copy_columns(const float* from, std::size_t from_columns, float* to, std::size_t to_columns,
                  std::size_t rows, std::size_t count) {
    for (std::size_t row = 0; row < rows; ++row, from += from_columns, to += to_columns) {
        std::copy_n(from, count, to);
    }
}

std::vector<ir::NamedAttribute> convolution_attributes(const ir::Window& window, std::uint32_t groups) {
    std::vector<ir::NamedAttribute> attributes = ir::attributes_of(window);
    attributes.emplace_back("groups", std::int64_t{groups});
    return attributes;
}

ir::ValueId append_convolution(ir::LayerReader& layer, const ir::Window& window, const char* bias_key,
                               std::uint32_t groups) {
    const std::uint32_t channels = layer.input_map().channels / groups;
    const std::uint32_t filters = layer.positive("filters");
    const double fan_in = static_cast<double>(window.kernel_height) * window.kernel_width * channels;
    const LayerWeights weights{
        .kernel = {.roles = {"kernel"},
                   .file_shape = {window.kernel_height, window.kernel_width, channels, filters},
                   .shape = {window.kernel_height, window.kernel_width, channels, filters},
                   .limit = drawn_limit(layer, fan_in),
                   .is_counted = true},
        .channels = filters,
        .bias_key = bias_key};
    return append_windowed(layer, "convolution", convolution_attributes(window, groups), weights);
}

std::vector<ir::LayerKey> keras_grouped_keys() {
    return keras_convolution_keys({{"filters", "the kernel's last extent"}, {"groups", "`groups`"}});
}

/// The groups of a Keras convolution.
std::uint32_t keras_groups(const ir::LayerReader& layer) {
    const std::uint32_t groups = layer.positive("groups", 1);
    const std::uint32_t channels = layer.input_map().channels;
    const std::uint32_t filters = layer.positive("filters");
    if (channels % groups != 0 || filters % groups != 0) {
        layer.fail("groups",
                   fmt::format("it must divide the {} input channels and the {} filters", channels, filters));
    }
    return groups;
}

ir::LayerKind keras_convolution() {
    return {ir::Format::Keras, "Conv2D", keras_grouped_keys(), [](ir::LayerReader& layer) {
                layer.require_text("data_format", "channels_last");
                const auto kernel = layer.positive_pair("kernel_size");
                const auto stride = layer.positive_pair("strides", {{1, 1}});
                const auto dilation = layer.positive_pair("dilation_rate", {{1, 1}});
                return append_convolution(layer, keras_window(layer, kernel, stride, dilation), "use_bias",
                                          keras_groups(layer));
            }};
}

ir::LayerKind keras_sequence_convolution() {
    return {ir::Format::Keras, "Conv1D", keras_grouped_keys(), [](ir::LayerReader& layer) {
                layer.require_text("data_format", "channels_last");
                const std::uint32_t kernel = keras_length(layer, "kernel_size");
                const ir::Window window =
                    keras_sequence_window(layer, kernel, keras_length(layer, "strides", 1),
                                          keras_length(layer, "dilation_rate", 1));
                const std::uint32_t groups = keras_groups(layer);
                const std::uint32_t channels = layer.input_map().channels / groups;
                const std::uint32_t filters = layer.positive("filters");
                return append_sequence_windowed(layer, "convolution", convolution_attributes(window, groups),
                                                {.kernel = {.roles = {"kernel"},
                                                            .file_shape = {kernel, channels, filters},
                                                            .shape = {1, kernel, channels, filters},
                                                            .is_counted = true},
                                                 .channels = filters,
                                                 .bias_key = "use_bias"});
            }};
}

ir::LayerKind json_convolution() {
    return {ir::Format::GraphJson, "convolution",
            json_convolution_keys({{"filters", "the kernel's last extent"}}), [](ir::LayerReader& layer) {
                return append_convolution(
                    layer, json_window(layer, {{1, 1}}, layer.positive_pair("dilation", {{1, 1}})), "bias",
                    1);
            }};
}

class Convolution final : public WindowedWeights {
public:
    std::string_view name() const override { return "convolution"; }
    std::string_view summary() const override {
        return "Two-dimensional convolution over all input channels; elements outside the image count as 0. "
               "With groups, the filters of a group cover only its own input channels. Weights: [kernel "
               "row][kernel column][input channel of the group][filter]; optional bias: [filter].";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations = [] {
            std::vector<ir::AttributeDeclaration> list = shared_attributes();
            list.push_back({.name = "groups",
                            .meaning = "parts into which the input channels, and the filters, are divided",
                            .absent = std::int64_t{1},
                            .minimum = 1,
                            .maximum = std::numeric_limits<std::uint32_t>::max()});
            list.push_back(sum_tile_attribute());
            list.push_back(precision_attribute());
            return list;
        }();
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        std::vector<ir::LayerKind> kinds{keras_convolution(), keras_sequence_convolution(),
                                         json_convolution(), tflite_convolution()};
        for (ir::LayerKind& kind : onnx_convolutions()) kinds.push_back(std::move(kind));
        return kinds;
    }

    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        const ir::Shape kernel = checked_kernel(node);
        const std::uint32_t channels = node.input_map().channels;
        const auto groups = static_cast<std::uint64_t>(node.node().integer("groups"));
        if (channels != groups * kernel[2]) {
            throw ModelError(fmt::format("its input has {} channels; its weights are for {}", channels,
                                         groups * kernel[2]));
        }
        if (kernel[3] % groups != 0) {
            throw ModelError(fmt::format("it has {} filters in {} groups; each group must have as many",
                                         kernel[3], groups));
        }
        return {result_shape(node)};
    }

protected:
    ir::ValueId words_product(const ir::Node& node, WordsBuilder& builder) const override {
        std::vector<ir::NamedAttribute> attributes = order_attributes(builder);
        for (ir::NamedAttribute& attribute : convolution_attributes(ir::window_of(node), groups_of(node))) {
            attributes.push_back(std::move(attribute));
        }
        return append_words_product(builder, name(), std::move(attributes), builder.input_of(node, 0),
                                    builder.input_of(node, 1));
    }

    void evaluate_products(const FloatCall& call) const override {
        const ir::FeatureMap input = call.node.input_map();
        const ir::FeatureMap result = call.node.output_map();
        const float* const weights = call.parameter(0);
        const float* const bias = call.parameter(1);
        ConvolutionWork work{input, result, ir::window_of(call.node.node()), call.batch,
                             sum_order(call.node.node())};
        const std::uint32_t groups = groups_of(call.node.node());
        if (groups == 1) {
            convolve(work, call.inputs[0], weights, bias, call.output);
            return;
        }
        work.input.channels /= groups;
        work.result.channels /= groups;
        const std::size_t depth = work.window.kernel_elements() * work.input.channels;
        std::vector<float> own_input(call.batch * work.input.elements());
        std::vector<float> own_weights(depth * work.result.channels);
        std::vector<float> own_result(call.batch * work.result.elements());
        const std::size_t in_pixels = own_input.size() / work.input.channels;
        const std::size_t out_pixels = own_result.size() / work.result.channels;
        for (std::uint32_t group = 0; group < groups; ++group) {
            const std::size_t first_filter = std::size_t{group} * work.result.channels;
            copy_columns(call.inputs[0] + std::size_t{group} * work.input.channels, input.channels,
                         own_input.data(), work.input.channels, in_pixels, work.input.channels);
            copy_columns(weights + first_filter, result.channels, own_weights.data(), work.result.channels,
                         depth, work.result.channels);
            convolve(work, own_input.data(), own_weights.data(),
                     bias == nullptr ? nullptr : bias + first_filter, own_result.data());
            copy_columns(own_result.data(), work.result.channels, call.output + first_filter, result.channels,
                         out_pixels, work.result.channels);
        }
    }

    void add_pixel(const ir::Node& node, const std::int32_t* pixel, std::size_t channels,
                   std::int32_t zero_point, const std::int8_t* weights,
                   std::vector<std::int32_t>& sums) const override {
        const std::uint32_t groups = groups_of(node);
        if (groups == 1) {
            for (std::size_t c = 0; c < channels; ++c) {
                multiply_add(pixel[c] - zero_point, weights + c * sums.size(), sums);
            }
            return;
        }
        const std::size_t own_channels = channels / groups;
        const std::size_t own_filters = sums.size() / groups;
        for (std::size_t filter = 0; filter < sums.size(); ++filter) {
            const std::size_t first = filter / own_filters * own_channels;
            for (std::size_t c = 0; c < own_channels; ++c) {
                const std::int64_t value = pixel[first + c] - zero_point;
                sums[filter] = wrap(sums[filter] + value * weights[c * sums.size() + filter]);
            }
        }
    }
    void add_pixel_sums(const ir::Node& node, const std::vector<std::int32_t>& by_channel,
                        std::int32_t factor, std::vector<std::int32_t>& sums) const override {
        const std::size_t groups = groups_of(node);
        const std::size_t own_channels = by_channel.size() / groups;
        const std::size_t own_filters = sums.size() / groups;
        for (std::size_t group = 0; group < groups; ++group) {
            std::int32_t whole = 0;
            for (std::size_t c = 0; c < own_channels; ++c) {
                whole = wrapping_add(whole, by_channel[group * own_channels + c]);
            }
            const std::int32_t added = wrapping_multiply(factor, whole);
            for (std::size_t f = 0; f < own_filters; ++f) {
                std::int32_t& sum = sums[group * own_filters + f];
                sum = wrapping_add(sum, added);
            }
        }
    }

private:
    static std::uint32_t groups_of(const ir::Node& node) {
        return static_cast<std::uint32_t>(node.integer("groups"));
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_convolution() {
    return std::make_unique<Convolution>();
}

}  // namespace systole::operators
