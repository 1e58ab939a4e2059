// Two-dimensional convolution over all input channels; elements outside the image count as 0.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/model_error.h"
#include "compiler/ir/window.h"
#include "compiler/operators/layer_formats.h"
#include "compiler/operators/weighted.h"
#include "compiler/operators/windowed_weights.h"

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
    return append_windowed(layer, "convolution", ir::attributes_of(window), weights);
}

ir::LayerKind keras_convolution() {
    return {ir::Format::Keras, "Conv2D", keras_convolution_keys({{"filters", "the kernel's last extent"}}),
            [](ir::LayerReader& layer) {
                require_plain_convolution(layer);
                const auto kernel = layer.positive_pair("kernel_size");
                const auto stride = layer.positive_pair("strides", {{1, 1}});
                return append_convolution(layer, keras_window(layer, kernel, stride), "use_bias");
            }};
}

ir::LayerKind json_convolution() {
    return {ir::Format::GraphJson, "convolution",
            json_convolution_keys({{"filters", "the kernel's last extent"}}), [](ir::LayerReader& layer) {
                return append_convolution(layer, json_window(layer, {{1, 1}}), "bias");
            }};
}

class Convolution final : public WindowedWeights {
public:
    std::string_view name() const override { return "convolution"; }
    std::string_view summary() const override {
        return "Two-dimensional convolution over all input channels; elements outside the image count as 0. "
               "Weights: [kernel row][kernel column][input channel][filter]; optional bias: [filter].";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations = shared_attributes();
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {keras_convolution(), json_convolution()};
    }

    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        const ir::Shape kernel = checked_kernel(node);
        const std::uint32_t channels = node.input_map().channels;
        if (channels != kernel[2]) {
            throw ModelError(
                fmt::format("its input has {} channels; its weights are for {}", channels, kernel[2]));
        }
        return {result_shape(node)};
    }

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

        // Computed as a matrix product over gathered windows, in pieces that fit in the cache.
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

    void lower(const ir::NodeView& node, Lowering& lowering) const override {
        lower_product(node, ir::window_of(node.node()), std::nullopt, lowering);
    }

protected:
    void add_pixel(const std::int32_t* pixel, std::size_t channels, std::int32_t zero_point,
                   const std::int8_t* weights, std::vector<std::int32_t>& sums) const override {
        for (std::size_t c = 0; c < channels; ++c) {
            multiply_add(pixel[c] - zero_point, weights + c * sums.size(), sums);
        }
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_convolution() {
    return std::make_unique<Convolution>();
}

}  // namespace systole::operators
