// Quantizes convolutions and dense layers, together with the activation function behind them.
#include <algorithm>
#include <cmath>

#include "compiler/passes/quantize_weights.h"
#include "compiler/passes/quantizer.h"

namespace systole::passes {
namespace {

using quantized::Requantization;
using quantized::TensorId;

/// Where a layer's results go, and how its sums become them.
struct Result {
    QuantizedWeights weights;
    Requantization requantization;
    ir::ValueId value = 0;  ///< the layer's result, or that of the function behind it
    Encoding encoding;
};

bool all_finite(std::span<const float> values) {
    return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

/// Without values: the parameters take their place all the same.
QuantizedWeights unknown_weights(std::size_t channels, const Encoding& output) {
    return {.weights = {},
            .bias = std::vector<std::int32_t>(channels),
            .multiplier = std::vector<std::int32_t>(channels),
            .shift = std::vector<std::int8_t>(channels),
            .output = output};
}

Result quantize_result(Quantizer& quantizer, const ir::Node& node, const std::vector<WeightedInput>& inputs) {
    const ir::NodeView view = quantizer.view(node);
    const std::size_t channels = view.output_map().channels;
    const std::span<const float> weights = view.constant(0)->constant->values<float>();
    std::vector<float> bias;
    if (view.constant(1) != nullptr) {
        const std::span<const float> values = view.constant(1)->constant->values<float>();
        bias.assign(values.begin(), values.end());
    }
    if (!all_finite(weights) || !all_finite(bias)) {
        quantizer.fail(node.output(), "folding batch normalization gives weights beyond the range of float");
    }
    if (bias.empty()) bias.assign(channels, 0.0F);

    Result result;
    const ir::Node* const function = quantizer.function_after(node.output());
    const auto limit = function == nullptr ? std::nullopt : Quantizer::clamp_limit(*function);
    const bool tabulates = function != nullptr && !limit;
    result.value = function == nullptr ? node.output() : function->output();
    // A table is indexed by the sums themselves, as wide as the result that is stored.
    const ir::ValueId requantized = tabulates ? node.output() : result.value;
    const Encoding wanted = quantizer.encoding(requantized, quantizer.type(result.value));
    result.weights = quantizer.has_weights() ? quantize_weights(weights, bias, inputs, wanted)
                                             : unknown_weights(channels, wanted);
    const Encoding& sums = result.weights.output;
    result.encoding = tabulates ? quantizer.encoding(result.value) : sums;

    Requantization& requantization = result.requantization;
    requantization.bias = std::move(result.weights.bias);
    requantization.multiplier = std::move(result.weights.multiplier);
    requantization.shift = std::move(result.weights.shift);
    requantization.zero_point = sums.zero_point;
    requantization.minimum = lowest_of(sums.type);
    requantization.maximum = highest_of(sums.type);
    if (limit) {
        requantization.minimum = sums.zero_point;
        requantization.maximum = sums.stored(*limit);
    }
    if (tabulates) {
        requantization.table = make_table(Quantizer::function_of(*function), sums, result.encoding);
    }
    return result;
}

}  // namespace

bool quantize_linear(Quantizer& quantizer, const ir::Node& node) {
    if (!operators::operator_of(node).has_weights()) return false;
    const ir::NodeView view = quantizer.view(node);
    const std::size_t channels = view.output_map().channels;
    const bool is_dense = node.is("dense");
    std::vector<TensorId> inputs;
    std::vector<WeightedInput> weighted;
    for (std::size_t i = 0; i < view.data_inputs(); ++i) {
        inputs.push_back(quantizer.tensor_of(node.inputs[i]));
        const quantized::Tensor& tensor = quantizer.tensor(inputs.back());
        const std::uint64_t elements =
            is_dense ? tensor.shape.elements() : view.constant(0)->shape.elements() / channels;
        weighted.push_back({encoding_of(tensor), elements});
        if (tensor.type != quantizer.tensor(inputs.front()).type) {
            quantizer.fail(node.output(), "it has inputs of 8 and of 16 bits; all must have as many");
        }
    }
    Result result = quantize_result(quantizer, node, weighted);
    const TensorId output = quantizer.add_tensor(result.value, result.encoding);
    quantizer.share_tensor(node.output(), output);
    std::vector<std::int8_t>& weights = result.weights.weights;
    Requantization& requantization = result.requantization;
    if (is_dense) {
        quantizer.add_layer(node, std::move(inputs), output,
                            quantized::Dense{std::move(weights), std::move(requantization)});
    } else if (node.is("convolution")) {
        quantizer.add_layer(
            node, std::move(inputs), output,
            quantized::Convolution{ir::window_of(node), std::move(weights), std::move(requantization)});
    } else if (node.is("depthwise_convolution")) {
        quantizer.add_layer(node, std::move(inputs), output,
                            quantized::DepthwiseConvolution{
                                ir::window_of(node), static_cast<std::uint32_t>(node.integer("multiplier")),
                                std::move(weights), std::move(requantization)});
    } else {
        throw std::logic_error(fmt::format("quantize: no rule for the weights of {}", node.op->name()));
    }
    return true;
}

}  // namespace systole::passes
