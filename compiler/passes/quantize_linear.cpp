// Quantizes convolutions and dense layers, together with the activation function behind them.
#include <algorithm>
#include <cmath>

#include "compiler/graph/operators/convolution.h"
#include "compiler/graph/operators/dense.h"
#include "compiler/graph/operators/depthwise_convolution.h"
#include "compiler/passes/quantize_weights.h"
#include "compiler/passes/quantizer.h"

namespace systole::passes {
namespace {

using graph::ActivationFunction;
using graph::NodeId;
using quantized::Requantization;
using quantized::TensorId;

/// Where a layer's results go, and how its sums become them.
struct Result {
    QuantizedWeights weights;
    Requantization requantization;
    NodeId node = 0;  ///< whose result it is: the layer's, or that of the activation behind it
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

Result quantize_result(Quantizer& quantizer, NodeId id, const std::vector<WeightedInput>& inputs,
                       const std::vector<float>& weights, std::vector<float> bias, std::size_t channels) {
    if (!all_finite(weights) || !all_finite(bias)) {
        quantizer.fail(id, "folding batch normalization gives weights beyond the range of float");
    }
    if (bias.empty()) bias.assign(channels, 0.0F);

    Result result;
    const auto activation = quantizer.activation_after(id);
    const bool clamps = activation && quantizer.activation(*activation).function == ActivationFunction::Relu;
    const bool tabulates = activation && !clamps;
    result.node = activation.value_or(id);
    // A table is indexed by the sums themselves, as wide as the result that is stored.
    const NodeId requantized = tabulates ? id : result.node;
    const Encoding wanted = quantizer.encoding(requantized, quantizer.type(result.node));
    result.weights = quantizer.has_weights() ? quantize_weights(weights, bias, inputs, wanted)
                                             : unknown_weights(channels, wanted);
    const Encoding& sums = result.weights.output;
    result.encoding = tabulates ? quantizer.encoding(result.node) : sums;

    Requantization& requantization = result.requantization;
    requantization.bias = std::move(result.weights.bias);
    requantization.multiplier = std::move(result.weights.multiplier);
    requantization.shift = std::move(result.weights.shift);
    requantization.zero_point = sums.zero_point;
    requantization.minimum = lowest_of(sums.type);
    requantization.maximum = highest_of(sums.type);
    if (clamps) {
        requantization.minimum = sums.zero_point;
        requantization.maximum = sums.stored(quantizer.activation(*activation).maximum);
    }
    if (tabulates)
        requantization.table = make_table(quantizer.activation(*activation), sums, result.encoding);
    return result;
}

}  // namespace

bool quantize_linear(Quantizer& quantizer, NodeId id) {
    const graph::Operator* const op = quantizer.node(id).op.get();
    if (const auto* const dense = dynamic_cast<const graph::Dense*>(op)) {
        std::vector<TensorId> inputs;
        std::vector<WeightedInput> weighted;
        for (const NodeId input : quantizer.node(id).inputs) {
            inputs.push_back(quantizer.tensor_of(input));
            const quantized::Tensor& tensor = quantizer.tensor(inputs.back());
            weighted.push_back({encoding_of(tensor), tensor.shape.elements()});
            if (tensor.type != quantizer.tensor(inputs.front()).type) {
                quantizer.fail(id, "it has inputs of 8 and of 16 bits; all must have as many");
            }
        }
        Result result = quantize_result(quantizer, id, weighted, dense->weights, dense->bias, dense->units);
        const TensorId output = quantizer.add_tensor(result.node, result.encoding);
        quantizer.share_tensor(id, output);
        quantizer.add_layer(
            id, std::move(inputs), output,
            quantized::Dense{std::move(result.weights.weights), std::move(result.requantization)});
        return true;
    }
    const auto* const convolution = dynamic_cast<const graph::Convolution*>(op);
    const auto* const depthwise = dynamic_cast<const graph::DepthwiseConvolution*>(op);
    if (convolution == nullptr && depthwise == nullptr) return false;

    const TensorId input = quantizer.input_of(id);
    const std::vector<float>& weights = convolution != nullptr ? convolution->weights : depthwise->weights;
    const std::size_t channels = quantizer.node(id).shape.channels;
    const WeightedInput weighted{encoding_of(quantizer.tensor(input)), weights.size() / channels};
    Result result = quantize_result(quantizer, id, {weighted}, weights,
                                    convolution != nullptr ? convolution->bias : depthwise->bias, channels);
    const TensorId output = quantizer.add_tensor(result.node, result.encoding);
    quantizer.share_tensor(id, output);
    if (convolution != nullptr) {
        quantizer.add_layer(id, {input}, output,
                            quantized::Convolution{convolution->window, std::move(result.weights.weights),
                                                   std::move(result.requantization)});
    } else {
        quantizer.add_layer(id, {input}, output,
                            quantized::DepthwiseConvolution{depthwise->window, depthwise->multiplier,
                                                            std::move(result.weights.weights),
                                                            std::move(result.requantization)});
    }
    return true;
}

}  // namespace systole::passes
