#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/graph/quantized_network.h"

namespace systole::tests {

/// Draws small quantized networks with every kind of layer, branches, odd shapes and extreme numbers.
class RandomNetwork {
public:
    explicit RandomNetwork(std::mt19937& random) : random_(random) {}

    quantized::Network draw() {
        network_ = {};
        network_.name = "random";
        network_.input = add_tensor({below(9) + 1, below(9) + 1, below(8) + 1});
        const std::uint32_t layers = below(6) + 1;
        while (network_.layers.size() < layers) add_layer();
        network_.output = network_.layers.back().output;
        return std::move(network_);
    }

    /// Images for the network's input.
    std::vector<std::uint8_t> bytes(std::uint64_t count) {
        std::vector<std::uint8_t> values(count);
        for (std::uint8_t& value : values) value = static_cast<std::uint8_t>(random_());
        return values;
    }

private:
    using Tensor = quantized::Tensor;

    std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }
    std::int32_t between(std::int32_t low, std::int32_t high) {
        return low + static_cast<std::int32_t>(below(static_cast<std::uint32_t>(high - low + 1)));
    }
    bool one_in(std::uint32_t n) { return below(n) == 0; }

    quantized::TensorId add_tensor(const graph::Shape& shape) { return add_tensor(shape, one_in(2)); }
    quantized::TensorId add_tensor(const graph::Shape& shape, bool is_signed) {
        const auto id = static_cast<quantized::TensorId>(network_.tensors.size());
        network_.tensors.push_back({.name = "t" + std::to_string(id),
                                    .shape = shape,
                                    .scale = 0.5,
                                    .zero_point = is_signed ? between(-128, 127) : between(0, 255),
                                    .is_signed = is_signed});
        return id;
    }

    /// Mostly the last tensor, sometimes any.
    quantized::TensorId pick_input() {
        const auto count = static_cast<quantized::TensorId>(network_.tensors.size());
        return one_in(4) ? below(count) : count - 1;
    }

    std::pair<std::int32_t, std::int32_t> range_of(const Tensor& tensor) {
        const std::int32_t low = tensor.is_signed ? -128 : 0;
        if (one_in(3)) return {tensor.zero_point, low + 255};  // ReLU
        return {low, low + 255};
    }

    quantized::Requantization requantization(const Tensor& output) {
        quantized::Requantization rules;
        for (std::uint32_t i = 0; i < output.shape.channels; ++i) {
            rules.bias.push_back(one_in(30) ? static_cast<std::int32_t>(random_()) : between(-5000, 5000));
            rules.multiplier.push_back(between(1 << 30, 0x7fffffff));
            rules.shift.push_back(static_cast<std::int8_t>(one_in(20) ? between(-31, 3) : between(-10, -5)));
        }
        rules.zero_point = output.zero_point;
        std::tie(rules.minimum, rules.maximum) = range_of(output);
        if (one_in(4)) rules.table = table();
        return rules;
    }

    std::array<std::uint8_t, 256> table() {
        std::array<std::uint8_t, 256> values{};
        for (std::uint8_t& value : values) value = static_cast<std::uint8_t>(random_());
        return values;
    }

    std::vector<std::int8_t> weights(std::uint64_t count) {
        std::vector<std::int8_t> values(count);
        for (std::int8_t& value : values) value = static_cast<std::int8_t>(random_());
        return values;
    }

    /// One direction of a window over `input` pixels: kernel, stride, padding before and behind.
    struct Axis {
        std::uint32_t kernel, stride, before, behind, output;
    };
    Axis axis(std::uint32_t input, bool touching) {
        Axis axis{};
        axis.kernel = below(4) + 1;
        axis.stride = below(3) + 1;
        const std::uint32_t most = touching ? axis.kernel : axis.kernel + 2;
        axis.before = below(most);
        axis.behind = below(most);
        while (input + axis.before + axis.behind < axis.kernel) --axis.kernel;
        if (touching) axis.before = std::min(axis.before, axis.kernel - 1);
        axis.output = (input + axis.before + axis.behind - axis.kernel) / axis.stride + 1;
        if (touching) {
            while ((axis.output - 1) * axis.stride >= axis.before + input) {
                --axis.behind;
                axis.output = (input + axis.before + axis.behind - axis.kernel) / axis.stride + 1;
            }
        }
        return axis;
    }
    std::pair<graph::Window, graph::Shape> window(const graph::Shape& input, bool touching) {
        const Axis y = axis(input.height, touching);
        const Axis x = axis(input.width, touching);
        const graph::Window window{.kernel_height = y.kernel,
                                   .kernel_width = x.kernel,
                                   .stride_y = y.stride,
                                   .stride_x = x.stride,
                                   .pad_top = y.before,
                                   .pad_left = x.before,
                                   .pad_bottom = y.behind,
                                   .pad_right = x.behind};
        return {window, graph::Shape{y.output, x.output, input.channels}};
    }

    void add_layer() {
        const quantized::TensorId input = pick_input();
        switch (below(7)) {
            case 0:
            case 1:
                return add_convolution(input);
            case 2:
                return add_depthwise(input);
            case 3:
                return add_dense(input);
            case 4:
                return add_pool(input);
            case 5:
                return add_addition(input);
            default:
                return add_lookup(input);
        }
    }

    void finish(std::vector<quantized::TensorId> inputs, quantized::TensorId output,
                quantized::Operation operation) {
        network_.layers.push_back({.name = "layer" + std::to_string(network_.layers.size()),
                                   .inputs = std::move(inputs),
                                   .output = output,
                                   .operation = std::move(operation)});
    }

    void add_convolution(quantized::TensorId input) {
        const graph::Shape shape = network_.tensors[input].shape;
        auto [geometry, output_shape] = window(shape, false);
        output_shape.channels = below(20) + 1;
        const quantized::TensorId output = add_tensor(output_shape);
        quantized::Convolution operation;
        operation.window = geometry;
        operation.weights = weights(std::uint64_t{geometry.kernel_height} * geometry.kernel_width *
                                    shape.channels * output_shape.channels);
        operation.requantization = requantization(network_.tensors[output]);
        finish({input}, output, std::move(operation));
    }

    void add_depthwise(quantized::TensorId input) {
        const graph::Shape shape = network_.tensors[input].shape;
        auto [geometry, output_shape] = window(shape, false);
        const std::uint32_t multiplier = below(3) + 1;
        if (shape.channels * multiplier > 40) return;
        output_shape.channels *= multiplier;
        const quantized::TensorId output = add_tensor(output_shape);
        quantized::DepthwiseConvolution operation;
        operation.window = geometry;
        operation.channel_multiplier = multiplier;
        operation.weights =
            weights(std::uint64_t{geometry.kernel_height} * geometry.kernel_width * output_shape.channels);
        operation.requantization = requantization(network_.tensors[output]);
        finish({input}, output, std::move(operation));
    }

    void add_dense(quantized::TensorId input) {
        const quantized::TensorId output = add_tensor({1, 1, below(30) + 1});
        quantized::Dense operation;
        operation.weights =
            weights(network_.tensors[input].shape.elements() * network_.tensors[output].shape.channels);
        operation.requantization = requantization(network_.tensors[output]);
        finish({input}, output, std::move(operation));
    }

    void add_pool(quantized::TensorId input) {
        const Tensor from = network_.tensors[input];
        quantized::Pool operation;
        operation.kind = one_in(2) ? quantized::PoolKind::Max : quantized::PoolKind::Average;
        operation.count_padding = one_in(2);
        const auto [geometry, output_shape] = window(from.shape, !operation.count_padding);
        operation.window = geometry;
        const quantized::TensorId output = add_tensor(output_shape, from.is_signed);
        network_.tensors[output].zero_point = from.zero_point;
        finish({input}, output, operation);
    }

    void add_addition(quantized::TensorId a) {
        std::vector<quantized::TensorId> candidates;
        for (quantized::TensorId b = 0; b < network_.tensors.size(); ++b) {
            const Tensor& tensor = network_.tensors[b];
            const bool fits = tensor.shape == network_.tensors[a].shape;
            if (fits && tensor.is_signed == network_.tensors[a].is_signed) candidates.push_back(b);
        }
        const quantized::TensorId b = candidates[below(static_cast<std::uint32_t>(candidates.size()))];
        const quantized::TensorId output =
            add_tensor(network_.tensors[a].shape, network_.tensors[a].is_signed);
        quantized::Add operation;
        operation.multiplier_a = between(1 << 30, 0x7fffffff);
        operation.multiplier_b = between(1 << 30, 0x7fffffff);
        operation.multiplier = between(1 << 30, 0x7fffffff);
        operation.shift_a = between(-3, 0);
        operation.shift_b = between(-3, 0);
        operation.shift = between(-20, -17);
        std::tie(operation.minimum, operation.maximum) = range_of(network_.tensors[output]);
        finish({a, b}, output, operation);
    }

    void add_lookup(quantized::TensorId input) {
        const quantized::TensorId output = add_tensor(network_.tensors[input].shape);
        finish({input}, output, quantized::Lookup{table()});
    }

    std::mt19937& random_;
    quantized::Network network_;
};

}  // namespace systole::tests
