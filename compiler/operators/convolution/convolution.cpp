// Two-dimensional convolution over all input channels; what lies outside the image counts as 0.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/model_error.h"
#include "compiler/ir/window.h"
#include "compiler/operators/gemm.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/layer_formats.h"
#include "compiler/operators/weighted.h"

namespace systole::operators {
namespace {

/// Writes the elements under one window, in the order of the weights; outside the image: 0.
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
            const auto image_row = static_cast<std::size_t>(rows.origin + row);
            const auto image_column = static_cast<std::size_t>(columns.origin + columns.first);
            std::fill_n(to, before, 0.0F);
            std::copy_n(image + (image_row * input_.width + image_column) * channels, inside, to + before);
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

ir::ValueId append_convolution(ir::LayerReader& layer, const ir::Window& window, const char* bias_key) {
    const std::uint32_t channels = layer.input_map().channels;
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
    return layer.append_function("activation", layer.append("convolution", ir::attributes_of(window),
                                                            with_weights(layer, {layer.input()}, weights)));
}

ir::LayerKind keras_convolution() {
    std::vector<ir::LayerKey> keys = keras_window_keys("kernel_size");
    keys.insert(keys.end(), {{"filters", "the kernel's last extent"},
                             {"use_bias", "whether there is a bias"},
                             {"activation", "a function of the result"},
                             {"dilation_rate", "only 1"},
                             {"groups", "only 1"}});
    return {ir::Format::Keras, "Conv2D", keys, [](ir::LayerReader& layer) {
                require_plain_convolution(layer);
                const auto kernel = layer.positive_pair("kernel_size");
                const auto stride = layer.positive_pair("strides", {{1, 1}});
                return append_convolution(layer, keras_window(layer, kernel, stride), "use_bias");
            }};
}

ir::LayerKind json_convolution() {
    std::vector<ir::LayerKey> keys = json_window_keys();
    keys.insert(keys.end(), {{"filters", "the kernel's last extent"},
                             {"bias", "whether there is a bias"},
                             {"activation", "a function of the result"}});
    return {ir::Format::GraphJson, "convolution", keys, [](ir::LayerReader& layer) {
                return append_convolution(layer, json_window(layer, {{1, 1}}), "bias");
            }};
}

class Convolution final : public WeightedOperator {
public:
    std::string_view name() const override { return "convolution"; }
    std::string_view summary() const override {
        return "Two-dimensional convolution over all input channels; what lies outside the image counts as "
               "0. "
               "Weights: [kernel row][kernel column][input channel][filter]; perhaps a bias: [filter].";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations = [] {
            std::vector<ir::AttributeDeclaration> list = ir::window_attributes();
            list.push_back(clamp_attribute());
            return list;
        }();
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {keras_convolution(), json_convolution()};
    }

    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.data_inputs() != 1) node.require_inputs(1);
        const ir::FeatureMap input = node.input_map();
        const ir::Window window = ir::window_of(node.node());
        const ir::Value* const weights = node.constant(0);
        constexpr std::size_t weights_rank = 4;
        if (weights == nullptr || weights->shape.rank() != weights_rank) {
            throw ModelError("it must have weights of 4 extents");
        }
        const ir::Shape& kernel = weights->shape;
        if (input.channels != kernel[2]) {
            throw ModelError(
                fmt::format("its input has {} channels; its weights are for {}", input.channels, kernel[2]));
        }
        if (kernel[0] != window.kernel_height || kernel[1] != window.kernel_width) {
            throw ModelError(
                fmt::format("its weights are {}; its window has a {}", to_text(kernel), to_text(window)));
        }
        check_bias(node, kernel[3]);
        return {ir::image_shape(window_output(input, window, kernel[3]))};
    }
    std::uint64_t macs(const ir::NodeView& node) const override {
        const ir::FeatureMap output = node.output_map();
        return std::uint64_t{output.height} * output.width * weight_count(node);
    }
    bool pads_with_zeros() const override { return true; }

    void evaluate(const FloatCall& call) const override {
        const ir::FeatureMap input = call.node.input_map();
        const ir::FeatureMap result = call.node.output_map();
        const ir::Window window = ir::window_of(call.node.node());
        const std::span<const float> weights = known_floats(*call.node.constant(0));
        const float* const bias = call.node.constant(1) == nullptr ? nullptr : call.inputs[2];
        const std::size_t filters = result.channels;
        const std::size_t depth = weights.size() / filters;
        const std::size_t pixels = std::size_t{result.height} * result.width;
        const std::size_t rows = call.batch * pixels;
        if (window == ir::Window{}) {
            multiply(call.inputs[0], weights.data(), call.output, rows, filters, depth);
            add_bias(call.output, bias, rows, filters);
            return;
        }

        // As a matrix product over gathered windows, in pieces small enough to stay in the cache.
        constexpr std::size_t piece_elements = std::size_t{1} << 16;
        const std::size_t piece_rows = std::clamp<std::size_t>(piece_elements / depth, 1, rows);
        const WindowGatherer gatherer(input, window, result);
        std::vector<float> gathered(piece_rows * depth);
        for (std::size_t first = 0; first < rows; first += piece_rows) {
            const std::size_t count = std::min(piece_rows, rows - first);
            for (std::size_t i = 0; i < count; ++i) {
                const std::size_t image = (first + i) / pixels;
                const std::size_t pixel = (first + i) % pixels;
                gatherer.gather(call.inputs[0] + image * input.elements(),
                                static_cast<std::uint32_t>(pixel / result.width),
                                static_cast<std::uint32_t>(pixel % result.width),
                                gathered.data() + i * depth);
            }
            float* const piece = call.output + first * filters;
            multiply(gathered.data(), weights.data(), piece, count, filters, depth);
            add_bias(piece, bias, count, filters);
        }
    }

    void execute(const IntegerCall& call) const override {
        const ir::FeatureMap input = call.node.input_map();
        const ir::FeatureMap result = call.node.output_map();
        const ir::Window window = ir::window_of(call.node.node());
        const std::span<const std::int8_t> weights = known_weights(call.node);
        const std::int32_t zero_point = encoding_of(call.node.input()).zero_point;
        const SumRounding rounding(call.node);
        const std::size_t channels = input.channels;
        const std::size_t filters = result.channels;
        std::vector<std::int32_t> sums;
        for (std::uint32_t image = 0; image < call.batch; ++image) {
            const std::int32_t* const pixels = call.inputs[0] + image * input.elements();
            std::int32_t* const output = call.output + image * result.elements();
            for_each_pixel(result, [&](std::uint32_t y, std::uint32_t x, std::size_t element) {
                rounding.begin(sums);
                for_each_in_window(input, window, y, x, [&](std::size_t pixel, std::size_t tap) {
                    for (std::size_t c = 0; c < channels; ++c) {
                        multiply_add(pixels[pixel * channels + c] - zero_point,
                                     weights.data() + (tap * channels + c) * filters, sums);
                    }
                });
                rounding.store(sums, output + element);
            });
        }
    }

    void lower(const ir::NodeView& node, Lowering& lowering) const override {
        lower_product(node, ir::window_of(node.node()), std::nullopt, lowering);
    }

protected:
    std::uint64_t met_elements(const ir::NodeView& node, std::size_t /*input*/) const override {
        return node.constant(0)->shape.elements() / node.output_map().channels;
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_convolution() {
    return std::make_unique<Convolution>();
}

}  // namespace systole::operators
