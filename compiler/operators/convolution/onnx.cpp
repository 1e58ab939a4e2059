// The convolutions of ONNX: channels second, weights [filter][channel of the group][height][width].
#include "compiler/operators/convolution/onnx.h"

#include <fmt/format.h>

#include "base/rounding.h"
#include "compiler/ir/graph.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/onnx_images.h"
#include "compiler/operators/onnx_quantization.h"

namespace systole::operators {
namespace {

std::vector<ir::LayerKey> onnx_convolution_keys() {
    std::vector<ir::LayerKey> keys = onnx_window_keys();
    keys.push_back({"group", "`groups`; as many as channels: a `depthwise_convolution`"});
    return keys;
}

/// A convolution's parts as the operators read them.
struct ConvolutionParts {
    ir::ValueId image = 0;
    ir::ValueId kernel = 0;
    ir::Window window;
    std::uint32_t groups = 1;
    std::size_t rank = 0;  ///< of the node's input
};

ConvolutionParts convolution_parts(ir::LayerReader& layer, ir::ValueId input, ir::ValueId weights) {
    ConvolutionParts parts;
    parts.rank = layer.value(input).shape.rank();
    const ir::Shape shape = layer.value(weights).shape;
    parts.image = channels_last(layer, input);
    if (shape.rank() != parts.rank) {
        layer.fail(fmt::format("its weights are {}; they must have {} extents, as its input", to_text(shape),
                               parts.rank));
    }
    std::vector<std::uint32_t> kernel;
    for (std::size_t i = 2; i < shape.rank(); ++i) kernel.push_back(shape[i]);
    if (layer.has("kernel_shape") && onnx_kernel(layer, kernel.size()) != kernel) {
        layer.fail("kernel_shape", fmt::format("its weights are {}", to_text(shape)));
    }
    const ir::FeatureMap map = layer.map_of(parts.image);
    parts.window = onnx_window(layer, map, kernel, false);
    parts.groups = onnx_extents(layer, "group", 1, 1, 1).front();
    if (std::uint64_t{shape[1]} * parts.groups != map.channels) {
        layer.fail(fmt::format("its input has {} channels; its weights are for {} in {} groups", map.channels,
                               std::uint64_t{shape[1]} * parts.groups, parts.groups));
    }
    if (shape[0] % parts.groups != 0) {
        layer.fail("group", fmt::format("it must divide the {} filters", shape[0]));
    }
    parts.kernel = kernel_last(layer, weights);
    return parts;
}

/// `types` are given if it works on integers.
ir::ValueId append_onnx_convolution(ir::LayerReader& layer, const ConvolutionParts& parts,
                                    std::optional<ir::ValueId> bias, std::vector<ir::ResultType> types) {
    const ir::FeatureMap map = layer.map_of(parts.image);
    std::vector<ir::NamedAttribute> attributes = ir::attributes_of(parts.window);
    if (!types.empty()) attributes.emplace_back("rounding", rounding_value(Rounding::HalfToEven));
    const bool is_depthwise = parts.groups > 1 && parts.groups == map.channels;
    if (is_depthwise) {
        const std::uint32_t filters = layer.value(parts.kernel).shape[3];
        attributes.emplace_back("multiplier", std::int64_t{filters / map.channels});
    } else {
        attributes.emplace_back("groups", std::int64_t{parts.groups});
    }
    std::vector<ir::ValueId> inputs{parts.image, parts.kernel};
    if (bias) inputs.push_back(*bias);
    const ir::ValueId result = layer
                                   .append_node(is_depthwise ? "depthwise_convolution" : "convolution",
                                                std::move(attributes), std::move(inputs), std::move(types))
                                   .front();
    return channels_first(layer, result, parts.rank);
}

std::optional<ir::ValueId> convolution_bias(const ir::LayerReader& layer, std::size_t index) {
    if (!layer.input_if_any(index)) return std::nullopt;
    return constant_input(layer, index, "bias");
}

ir::ValueId image_input(const ir::LayerReader& layer) {
    const auto input = layer.input_if_any(0);
    if (!input) layer.fail("its first input is absent; it must be given");
    return *input;
}

ir::Results read_onnx_convolution(ir::LayerReader& layer) {
    const ir::ValueId input = image_input(layer);
    const ConvolutionParts parts = convolution_parts(layer, input, constant_input(layer, 1, "weights"));
    return append_onnx_convolution(layer, parts, convolution_bias(layer, 2), {});
}

/// QLinearConv: x, its scale and zero point, w, its scales and zero points, the result's scale and zero
/// point, and a bias of int32.
ir::Results read_quantized_convolution(ir::LayerReader& layer) {
    const OnnxQuantization of_input = onnx_quantization(layer, 1, 2, std::nullopt);
    const OnnxQuantization of_weights = onnx_quantization(layer, 4, 5, 0);
    const OnnxQuantization of_result = onnx_quantization(layer, 6, 7, std::nullopt);
    const ir::ValueId input = layer.as_quantized(image_input(layer), of_input.quantization);
    const ir::ValueId weights = centered_weights(
        layer, layer.as_quantized(constant_input(layer, 3, "weights"), of_weights.quantization));
    const ConvolutionParts parts = convolution_parts(layer, input, weights);
    return append_onnx_convolution(layer, parts, convolution_bias(layer, 8),
                                   {{of_result.type.value_or(DataType::Uint8), of_result.quantization}});
}

/// ConvInteger: x, w, and the zero points of both; the result is the sum in int32.
ir::Results read_convolution_of_integers(ir::LayerReader& layer) {
    const ConvolutionParts parts =
        convolution_parts(layer, image_input(layer), constant_input(layer, 1, "weights"));
    std::vector<ir::NamedAttribute> attributes = ir::attributes_of(parts.window);
    attributes.emplace_back("groups", std::int64_t{parts.groups});
    const ir::ValueId result =
        layer.append("integer_convolution", std::move(attributes),
                     {parts.image, zero_point_input(layer, 2, layer.value(parts.image).type), parts.kernel,
                      zero_point_input(layer, 3, layer.value(parts.kernel).type)});
    return channels_first(layer, result, parts.rank);
}

}  // namespace

std::vector<ir::LayerKind> onnx_convolutions() {
    return {{ir::Format::Onnx, "Conv", onnx_convolution_keys(), read_onnx_convolution},
            {ir::Format::Onnx, "QLinearConv", onnx_convolution_keys(), read_quantized_convolution},
            {ir::Format::Onnx, "ConvInteger", onnx_convolution_keys(), read_convolution_of_integers}};
}

}  // namespace systole::operators
