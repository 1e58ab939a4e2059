// The operators on integers that onnxruntime adds to ONNX's own.
#include "compiler/operators/quantize/microsoft.h"

#include <fmt/format.h>

#include "compiler/operators/onnx_images.h"
#include "compiler/operators/onnx_quantization.h"

namespace systole::operators {
namespace {

/// The real numbers of a tensor that is followed by its scale and zero point.
ir::ValueId real_input(ir::LayerReader& layer, std::size_t index) {
    const auto input = layer.input_if_any(index);
    if (!input) layer.fail(fmt::format("its input {} is absent; it must be given", index));
    const OnnxQuantization quantization = onnx_quantization(layer, index + 1, index + 2, std::nullopt);
    const ir::ValueId stored = layer.as_quantized(*input, quantization.quantization);
    if (!layer.value(stored).constant) return layer.append("dequantize", {}, {stored});
    return layer.append_as({DataType::Float32, quantization.quantization}, "dequantize", {}, {stored});
}

/// Real numbers as integers of the scale and zero point that are inputs `index` and `index` + 1.
ir::Results stored_result(ir::LayerReader& layer, ir::ValueId real, std::size_t index) {
    const OnnxQuantization quantization = onnx_quantization(layer, index, index + 1, std::nullopt);
    return layer.append_as({quantization.type.value_or(DataType::Uint8), quantization.quantization},
                           "quantize", {{"half_to_even", std::int64_t{1}}}, {real});
}

/// A node of two tensors.
ir::LayerKind pair_layer(const char* name, const char* op) {
    return {ir::Format::Onnx, name, {}, [op](ir::LayerReader& layer) {
                const ir::ValueId a = real_input(layer, 0);
                const ir::ValueId b = real_input(layer, 3);
                return stored_result(layer, layer.append(op, {}, {a, b}), 6);
            }};
}

ir::Results read_leaky_relu(ir::LayerReader& layer) {
    constexpr float default_alpha = 0.01F;
    const double alpha{layer.number("alpha", default_alpha)};
    return stored_result(layer, layer.append("leaky_relu", {{"alpha", alpha}}, {real_input(layer, 0)}), 3);
}

ir::Results read_global_average(ir::LayerReader& layer) {
    const ir::ValueId real = real_input(layer, 0);
    const bool is_last = onnx_flag(layer, "channels_last", false);
    const std::size_t rank = layer.value(real).shape.rank();
    const ir::ValueId image = is_last ? real : channels_last(layer, real);
    const ir::FeatureMap map = layer.map_of(image);
    const ir::ValueId average = layer.append(
        "average_pool", ir::attributes_of({.kernel_height = map.height, .kernel_width = map.width}), {image});
    return stored_result(layer, is_last ? average : channels_first(layer, average, rank), 3);
}

ir::Results read_concat(ir::LayerReader& layer) {
    constexpr std::size_t first = 2;
    constexpr std::size_t each = 3;
    std::vector<ir::ValueId> inputs;
    for (std::size_t i = first; i < layer.inputs().size(); i += each) inputs.push_back(real_input(layer, i));
    if (inputs.empty()) layer.fail("it has no tensors to concatenate");
    const std::int64_t axis = onnx_axis(layer, "axis", 1, layer.value(inputs.front()).shape.rank());
    return stored_result(layer, layer.append("concat", {{"axis", axis}}, inputs), 0);
}

}  // namespace

std::vector<ir::LayerKind> microsoft_layers() {
    return {pair_layer("com.microsoft.QLinearAdd", "add"),
            pair_layer("com.microsoft.QLinearMul", "multiply"),
            {ir::Format::Onnx,
             "com.microsoft.QLinearSigmoid",
             {},
             [](ir::LayerReader& layer) {
                 return stored_result(layer, layer.append("sigmoid", {}, {real_input(layer, 0)}), 3);
             }},
            {ir::Format::Onnx, "com.microsoft.QLinearLeakyRelu", {{"alpha", "`alpha`"}}, read_leaky_relu},
            {ir::Format::Onnx,
             "com.microsoft.QLinearGlobalAveragePool",
             {{"channels_last", "whether the channels are the last axis"}},
             read_global_average},
            {ir::Format::Onnx, "com.microsoft.QLinearConcat", {{"axis", "`axis`"}}, read_concat}};
}

}  // namespace systole::operators
