#include "compiler/operators/windowed_weights.h"

#include <fmt/format.h>

#include "compiler/ir/model_error.h"
#include "compiler/operators/integer_types.h"

namespace systole::operators {

std::uint64_t WindowedWeights::macs(const ir::NodeView& node) const {
    const ir::FeatureMap output = node.output_map();
    return std::uint64_t{output.height} * output.width * weight_count(node);
}

void WindowedWeights::execute(const IntegerCall& call) const {
    const ir::FeatureMap input = call.node.input_map();
    const ir::FeatureMap result = call.node.output_map();
    const ir::Window window = ir::window_of(call.node.node());
    const std::span<const std::int8_t> weights = known_weights(call.node);
    const std::size_t element_weights = weights.size() / window.kernel_elements();
    const std::int32_t zero_point = encoding_of(call.node.input()).zero_point;
    const SumRounding rounding(call.node);
    std::vector<std::int32_t> sums;
    for (std::uint32_t image = 0; image < call.batch; ++image) {
        const std::int32_t* const pixels = call.inputs[0] + image * input.elements();
        std::int32_t* const output = call.output + image * result.elements();
        for_each_pixel(result, [&](std::uint32_t y, std::uint32_t x, std::size_t element) {
            rounding.begin(sums);
            for_each_in_window(input, window, y, x, [&](std::size_t pixel, std::size_t kernel_element) {
                add_pixel(pixels + pixel * input.channels, input.channels, zero_point,
                          weights.data() + kernel_element * element_weights, sums);
            });
            rounding.store(sums, output + element);
        });
    }
}

std::vector<ir::AttributeDeclaration> WindowedWeights::shared_attributes() {
    std::vector<ir::AttributeDeclaration> declarations = ir::window_attributes();
    declarations.push_back(clamp_attribute());
    return declarations;
}

ir::Shape WindowedWeights::checked_kernel(const ir::NodeView& node) {
    if (node.data_inputs() != 1) node.require_inputs(1);
    const ir::Window window = ir::window_of(node.node());
    const ir::Value* const weights = node.constant(0);
    constexpr std::size_t weights_rank = 4;
    if (weights == nullptr || weights->shape.rank() != weights_rank) {
        throw ModelError("it must have weights of 4 extents");
    }
    const ir::Shape& kernel = weights->shape;
    if (kernel[0] != window.kernel_height || kernel[1] != window.kernel_width) {
        throw ModelError(
            fmt::format("its weights are {}; its window has a {}", to_text(kernel), to_text(window)));
    }
    check_bias(node, kernel[3]);
    return kernel;
}

ir::Shape WindowedWeights::result_shape(const ir::NodeView& node) {
    return ir::image_shape(
        window_output(node.input_map(), ir::window_of(node.node()), node.constant(0)->shape[3]));
}

std::uint64_t WindowedWeights::met_elements(const ir::NodeView& node, std::size_t /*input*/) const {
    return node.constant(0)->shape.elements() / node.output_map().channels;
}

std::vector<ir::LayerKey> keras_convolution_keys(std::vector<ir::LayerKey> own) {
    std::vector<ir::LayerKey> keys = keras_window_keys("kernel_size");
    keys.insert(keys.end(), own.begin(), own.end());
    keys.insert(keys.end(), {{"use_bias", "whether there is a bias"},
                             {"activation", "a function of the result"},
                             {"dilation_rate", "only 1"},
                             {"groups", "only 1"}});
    return keys;
}

std::vector<ir::LayerKey> json_convolution_keys(std::vector<ir::LayerKey> own) {
    std::vector<ir::LayerKey> keys = json_window_keys();
    keys.insert(keys.end(), own.begin(), own.end());
    keys.insert(keys.end(),
                {{"bias", "whether there is a bias"}, {"activation", "a function of the result"}});
    return keys;
}

ir::ValueId append_windowed(ir::LayerReader& layer, std::string_view op,
                            std::vector<ir::NamedAttribute> attributes, const LayerWeights& weights) {
    return layer.append_function(
        "activation", layer.append(op, std::move(attributes), with_weights(layer, {layer.input()}, weights)));
}

}  // namespace systole::operators
