#include "compiler/operators/layer_formats.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "compiler/operators/file_nodes.h"

namespace systole::operators {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();

/// The rows or columns that a layer's kernel covers with the dilation that the layer has under `key`.
std::uint32_t covered_by(const ir::LayerReader& layer, const char* key, std::uint32_t kernel,
                         std::uint32_t dilation) {
    const std::uint64_t covered = ir::covered_extent(kernel, dilation);
    if (covered > std::uint64_t{most}) {
        layer.fail(key, fmt::format("with it, the kernel covers {} rows or columns; there may be at most {}",
                                    covered, most));
    }
    return static_cast<std::uint32_t>(covered);
}

/// Windows with "same" padding, which a dilated kernel covers.
ir::Window same_dilated_window(const ir::LayerReader& layer, const char* dilation_key,
                               const std::array<std::uint32_t, 2>& kernel,
                               const std::array<std::uint32_t, 2>& stride,
                               const std::array<std::uint32_t, 2>& dilation) {
    ir::Window window = ir::same_window(layer.input_map(),
                                        {covered_by(layer, dilation_key, kernel[0], dilation[0]),
                                         covered_by(layer, dilation_key, kernel[1], dilation[1])},
                                        stride);
    window.kernel_height = kernel[0];
    window.kernel_width = kernel[1];
    window.dilation_y = dilation[0];
    window.dilation_x = dilation[1];
    return window;
}

}  // namespace

std::vector<ir::LayerKey> keras_window_keys(const char* kernel_key) {
    return {{kernel_key, "`kernel`"},
            {"strides", "`stride`"},
            {"padding", "`padding`: \"valid\" is none, \"same\" as TensorFlow"},
            {"data_format", keras_data_format}};
}

std::vector<ir::LayerKey> json_window_keys() {
    return {{"kernel", "`kernel`, or one number for both sides"},
            {"stride", "`stride`, or one number for both"},
            {"padding", "`padding`, or \"valid\" or \"same\""}};
}

ir::Window keras_window(const ir::LayerReader& layer, const std::array<std::uint32_t, 2>& kernel,
                        const std::array<std::uint32_t, 2>& stride,
                        const std::array<std::uint32_t, 2>& dilation) {
    const std::string padding = layer.text("padding", "valid");
    if (padding != "same" && padding != "valid") {
        layer.fail("padding", "it must be \"valid\" or \"same\"");
    }
    ir::Window window{
        .kernel_height = kernel[0], .kernel_width = kernel[1], .stride_y = stride[0], .stride_x = stride[1]};
    if (padding == "same") window = same_dilated_window(layer, "dilation_rate", kernel, stride, dilation);
    window.dilation_y = dilation[0];
    window.dilation_x = dilation[1];
    return window;
}

ir::Shape last_axis_weights(const ir::LayerReader& layer, ir::ValueId value, std::uint32_t units) {
    const ir::FeatureMap map = layer.map_of(value);
    if (map.is_vector()) return {map.channels, units};
    return {1, 1, map.channels, units};
}

ir::ValueId append_last_axis_product(ir::LayerReader& layer, const std::vector<ir::ValueId>& inputs,
                                     const char* activation) {
    constexpr std::size_t axes_of_matrix = 2;
    const ir::Shape weights = layer.value(inputs[1]).shape;
    std::vector<std::int64_t> extents = extents_of(layer.value(inputs.front()).shape);
    extents.back() = weights[weights.rank() - 1];
    ir::ValueId result = layer.append(weights.rank() == axes_of_matrix ? "dense" : "convolution", {}, inputs);
    // Before the reshape, the function can be part of the product's work.
    if (activation != nullptr) result = layer.append_function(activation, result);
    return append_shape(layer, result, shape_from(layer, extents));
}

std::uint32_t keras_length(const ir::LayerReader& layer, const char* key,
                           std::optional<std::uint32_t> absent) {
    if (!layer.is_list(key)) return layer.positive(key, absent);
    const auto values = *layer.integers(key);
    if (values.size() != 1 || !values[0] || *values[0] < 1) {
        layer.fail(key, "it must be n or [n], an integer from 1 to 4294967295");
    }
    return static_cast<std::uint32_t>(*values[0]);
}

ir::Window keras_sequence_window(const ir::LayerReader& layer, std::uint32_t kernel, std::uint32_t stride,
                                 std::uint32_t dilation) {
    require_sequence(layer);
    if (layer.text("padding", "valid") != "causal") {
        return keras_window(layer, {1, kernel}, {1, stride}, {1, dilation});
    }
    return {.kernel_width = kernel,
            .stride_x = stride,
            .pad_left = covered_by(layer, "dilation_rate", kernel, dilation) - 1,
            .dilation_x = dilation};
}

void require_sequence(const ir::LayerReader& layer) {
    const ir::FeatureMap map = layer.input_map();
    if (map.height == 1) return;
    layer.fail(fmt::format("its input is {}; it must be a sequence: [length, channels]", to_text(map)));
}

ir::ValueId as_sequence(ir::LayerReader& layer, ir::ValueId map) {
    const ir::FeatureMap shape = layer.map_of(map);
    return layer.append("reshape", {{"shape", std::vector<std::int64_t>{1, shape.width, shape.channels}}},
                        {map});
}

ir::ValueId append_affine(ir::LayerReader& layer, ir::ValueId value, std::vector<float> scale,
                          std::vector<float> offset) {
    const std::uint32_t channels = layer.map_of(value).channels;
    const ir::ValueId gamma = layer.constant("gamma", {channels}, std::move(scale));
    const ir::ValueId beta = layer.constant("beta", {channels}, std::move(offset));
    const ir::ValueId mean = layer.constant("mean", {channels}, std::vector<float>(channels, 0.0F));
    const ir::ValueId variance = layer.constant("variance", {channels}, std::vector<float>(channels, 1.0F));
    return layer.append("batch_normalization", {{"epsilon", 0.0}}, {value, gamma, beta, mean, variance});
}

ir::Window json_window(const ir::LayerReader& layer,
                       const std::optional<std::array<std::uint32_t, 2>>& default_stride,
                       const std::array<std::uint32_t, 2>& dilation) {
    const auto kernel = layer.positive_pair("kernel");
    const auto stride = layer.positive_pair("stride", default_stride.value_or(kernel));
    ir::Window window{.kernel_height = kernel[0],
                      .kernel_width = kernel[1],
                      .stride_y = stride[0],
                      .stride_x = stride[1],
                      .dilation_y = dilation[0],
                      .dilation_x = dilation[1]};
    if (!layer.has("padding")) return window;
    if (layer.is_text("padding")) {
        const std::string padding = layer.text("padding", "");
        if (padding == "valid") return window;
        if (padding == "same") return same_dilated_window(layer, "dilation", kernel, stride, dilation);
    }
    if (!layer.is_list("padding")) {
        layer.fail("padding", "it must be \"valid\", \"same\" or [top, left, bottom, right]");
    }
    const auto [top, left, bottom, right] = json_sides(layer, "padding");
    window.pad_top = top;
    window.pad_left = left;
    window.pad_bottom = bottom;
    window.pad_right = right;
    return window;
}

std::array<std::uint32_t, 4> json_sides(const ir::LayerReader& layer, const char* key) {
    constexpr const char* rule = "it must be [top, left, bottom, right], each an integer, at least 0";
    std::array<std::uint32_t, 4> sides{};
    const auto values = layer.is_list(key) ? layer.integers(key) : std::nullopt;
    if (!values || values->size() != sides.size()) layer.fail(key, rule);
    for (std::size_t i = 0; i < sides.size(); ++i) {
        const auto side = (*values)[i];
        if (!side || *side < 0 || *side > most) layer.fail(key, rule);
        sides.at(i) = static_cast<std::uint32_t>(*side);
    }
    return sides;
}

ir::Shape json_shape(const ir::LayerReader& layer, const char* key) {
    constexpr const char* rule =
        "it must be [n] or [height, width, channels], each an integer from 1 to 4294967295";
    const auto values = layer.is_list(key) ? layer.integers(key) : std::nullopt;
    if (!values || (values->size() != 1 && values->size() != 3)) layer.fail(key, rule);
    std::vector<std::uint32_t> extents{1};
    for (const auto& extent : *values) {
        if (!extent || *extent < 1 || *extent > most) layer.fail(key, rule);
        extents.push_back(static_cast<std::uint32_t>(*extent));
    }
    return ir::Shape(extents);
}

double drawn_limit(const ir::LayerReader& layer, double fan_in) {
    constexpr double uniform = 3.0;  // the mean square of uniform values in [-a, a] is a^2 / 3
    return std::sqrt(uniform * layer.drawn_gain() / fan_in);
}

std::vector<ir::ValueId> with_weights(ir::LayerReader& layer, std::vector<ir::ValueId> inputs,
                                      const LayerWeights& weights) {
    constexpr double bias_limit = 0.05;
    inputs.push_back(layer.weight(weights.kernel));
    if (layer.boolean(weights.bias_key, true)) {
        inputs.push_back(layer.weight({.roles = {"bias"},
                                       .file_shape = {weights.channels},
                                       .shape = {static_cast<std::uint32_t>(weights.channels)},
                                       .limit = bias_limit}));
    }
    return inputs;
}

}  // namespace systole::operators
