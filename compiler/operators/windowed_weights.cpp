#include "compiler/operators/windowed_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/operators/integer_types.h"

namespace systole::operators {
namespace {

/// Throws ModelError unless the chip can stream the windows of a dilated kernel, with the elements between
/// its own.
void check_covered(const ir::Window& window) {
    constexpr std::uint64_t most = 4096;
    const std::uint64_t height = ir::covered_extent(window.kernel_height, window.dilation_y);
    const std::uint64_t width = ir::covered_extent(window.kernel_width, window.dilation_x);
    if (height > most || width > most) {
        throw ModelError(
            fmt::format("its kernel covers {} by {} elements with its dilation; it may cover at "
                        "most {} by {}",
                        height, width, most, most));
    }
}

}  // namespace

std::uint64_t WindowedWeights::macs(const ir::NodeView& node) const {
    const ir::FeatureMap output = node.output_map();
    return std::uint64_t{output.height} * output.width * weight_count(node);
}

void WindowedWeights::execute(const IntegerCall& call) const {
    const ir::FeatureMap input = call.node.input_map();
    const ir::FeatureMap result = call.node.output_map();
    const SumRounding rounding(call.node);
    const bool is_wide = has_wide_sums(call.node.node());
    std::vector<std::int32_t> sums;
    std::vector<std::int32_t> lower_sums;
    for (std::uint32_t image = 0; image < call.batch; ++image) {
        const std::int32_t* const pixels = call.inputs[0] + image * input.elements();
        const SplitNumbers parts = is_wide ? split({pixels, input.elements()}) : SplitNumbers{};
        std::int32_t* const output = call.output + image * result.elements();
        for_each_pixel(result, [&](std::uint32_t y, std::uint32_t x, std::size_t element) {
            if (is_wide) {
                sums.assign(result.channels, 0);
                lower_sums.assign(result.channels, 0);
                add_window(call.node, parts.upper.data(), {y, x}, sums);
                add_window(call.node, parts.lower.data(), {y, x}, lower_sums);
                rounding.store_wide(sums, lower_sums, output + element);
                return;
            }
            rounding.begin(sums);
            add_window(call.node, pixels, {y, x}, sums);
            rounding.store(sums, output + element);
        });
    }
}

void WindowedWeights::add_window(const ir::NodeView& node, const std::int32_t* pixels,
                                 const std::array<std::uint32_t, 2>& position,
                                 std::vector<std::int32_t>& sums) const {
    const ir::FeatureMap input = node.input_map();
    const ir::Window window = ir::window_of(node.node());
    const std::span<const std::int8_t> weights = known_weights(node);
    const std::size_t element_weights = weights.size() / window.kernel_elements();
    const std::int32_t zero_point = encoding_of(node.input()).zero_point;
    const std::int32_t of_weights = weight_zero_point(node);
    std::vector<std::int32_t> by_channel(of_weights == 0 ? 0 : input.channels, 0);
    for_each_in_window(input, window, position[0], position[1], [&](std::size_t pixel, std::size_t tap) {
        const std::int32_t* const numbers = pixels + pixel * input.channels;
        add_pixel(node.node(), numbers, input.channels, zero_point, weights.data() + tap * element_weights,
                  sums);
        for (std::size_t c = 0; c < by_channel.size(); ++c) {
            by_channel[c] = wrapping_add(by_channel[c], numbers[c] - zero_point);
        }
    });
    // The weights' zero point meets the sum of all inputs of an output channel.
    if (of_weights != 0) add_pixel_sums(node.node(), by_channel, -of_weights, sums);
}

std::vector<ir::AttributeDeclaration> WindowedWeights::shared_attributes() {
    std::vector<ir::AttributeDeclaration> declarations = ir::window_attributes();
    declarations.push_back(clamp_attribute());
    declarations.push_back(wide_sums_attribute());
    declarations.push_back(rounding_attribute());
    declarations.push_back(real_multiplier_attribute());
    return declarations;
}

ir::Shape WindowedWeights::checked_kernel(const ir::NodeView& node) {
    if (node.data_inputs() != 1) node.require_inputs(1);
    const ir::Window window = ir::window_of(node.node());
    const ir::Value* const weights = node.parameter(0);
    constexpr std::size_t weights_rank = 4;
    if (weights == nullptr || weights->shape.rank() != weights_rank) {
        throw ModelError("it must have weights of 4 extents");
    }
    const ir::Shape& kernel = weights->shape;
    if (kernel[0] != window.kernel_height || kernel[1] != window.kernel_width) {
        throw ModelError(
            fmt::format("its weights are {}; its window has a {}", to_text(kernel), to_text(window)));
    }
    if (window.is_dilated()) check_covered(window);
    check_bias(node, kernel[3]);
    return kernel;
}

ir::Shape WindowedWeights::result_shape(const ir::NodeView& node) {
    return ir::image_shape(
        window_output(node.input_map(), ir::window_of(node.node()), node.parameter(0)->shape[3]),
        node.batch());
}

std::uint64_t WindowedWeights::met_elements(const ir::NodeView& node, std::size_t /*input*/) const {
    return node.parameter(0)->shape.elements() / node.output_map().channels;
}

std::vector<ir::LayerKey> keras_convolution_keys(std::vector<ir::LayerKey> own) {
    std::vector<ir::LayerKey> keys = keras_window_keys("kernel_size");
    keys.insert(keys.end(), own.begin(), own.end());
    keys.insert(keys.end(), {{"use_bias", "whether there is a bias"},
                             {"activation", "a function of the result"},
                             {"dilation_rate", "`dilation`"}});
    return keys;
}

std::vector<ir::LayerKey> json_convolution_keys(std::vector<ir::LayerKey> own) {
    std::vector<ir::LayerKey> keys = json_window_keys();
    keys.insert(keys.end(), own.begin(), own.end());
    keys.insert(keys.end(), {{"bias", "whether there is a bias"},
                             {"activation", "a function of the result"},
                             {"dilation", "`dilation`, or one number for both"}});
    return keys;
}

ir::ValueId append_windowed(ir::LayerReader& layer, std::string_view op,
                            std::vector<ir::NamedAttribute> attributes, const LayerWeights& weights) {
    return layer.append_function(
        "activation", layer.append(op, std::move(attributes), with_weights(layer, {layer.input()}, weights)));
}

ir::ValueId append_sequence_windowed(ir::LayerReader& layer, std::string_view op,
                                     std::vector<ir::NamedAttribute> attributes,
                                     const LayerWeights& weights) {
    const ir::ValueId map =
        layer.append(op, std::move(attributes), with_weights(layer, {layer.input()}, weights));
    // Before the reshape, the function can be part of the convolution's work.
    return as_sequence(layer, layer.append_function("activation", map));
}

}  // namespace systole::operators
