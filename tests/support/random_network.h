#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
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
    /// Slices begin at multiples of `slice_bytes` bytes; 0: at the first element only.
    explicit RandomNetwork(std::mt19937& random, std::uint32_t slice_bytes = 0)
        : random_(random), slice_bytes_(slice_bytes) {}

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

    quantized::TensorId add_tensor(const ir::FeatureMap& shape) {
        return add_tensor(shape, one_in(3) ? DataType::Int16 : byte_type());
    }
    quantized::TensorId add_tensor(const ir::FeatureMap& shape, DataType type) {
        const auto id = static_cast<quantized::TensorId>(network_.tensors.size());
        network_.tensors.push_back(
            {.name = "t" + std::to_string(id),
             .shape = shape,
             .scale = 0.5,
             .zero_point = bytes_of(type) == 2 ? 0 : between(lowest_of(type), highest_of(type)),
             .type = type});
        return id;
    }
    DataType byte_type() { return one_in(2) ? DataType::Int8 : DataType::Uint8; }
    bool is_wide(quantized::TensorId id) const { return bytes_of(network_.tensors[id].type) == 2; }

    /// Mostly the last tensor, sometimes any.
    quantized::TensorId pick_input() {
        const auto count = static_cast<quantized::TensorId>(network_.tensors.size());
        return one_in(4) ? below(count) : count - 1;
    }

    std::pair<std::int32_t, std::int32_t> range_of(const Tensor& tensor) {
        const std::int32_t high = highest_of(tensor.type);
        if (one_in(3)) return {tensor.zero_point, high};  // ReLU
        return {lowest_of(tensor.type), high};
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
        if (one_in(4)) rules.table = table(output.type);
        return rules;
    }

    quantized::Table table(DataType type) {
        const auto fill = [&](auto entries) {
            using Entry = typename decltype(entries)::value_type;
            for (Entry& entry : entries) entry = static_cast<Entry>(random_());
            return entries;
        };
        if (bytes_of(type) == 2) return fill(quantized::WideTable{});
        return fill(quantized::ByteTable{});
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
    std::pair<ir::Window, ir::FeatureMap> window(const ir::FeatureMap& input, bool touching) {
        const Axis y = axis(input.height, touching);
        const Axis x = axis(input.width, touching);
        const ir::Window window{.kernel_height = y.kernel,
                                .kernel_width = x.kernel,
                                .stride_y = y.stride,
                                .stride_x = x.stride,
                                .pad_top = y.before,
                                .pad_left = x.before,
                                .pad_bottom = y.behind,
                                .pad_right = x.behind};
        return {window, ir::FeatureMap{y.output, x.output, input.channels}};
    }

    void add_layer() {
        const quantized::TensorId input = pick_input();
        switch (below(14)) {
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
            case 6:
            case 7:
                return add_module(input);
            case 8:
            case 9:
                return add_multiplication(input);
            case 10:
                return add_slice(input);
            case 11:
            case 12:
                return add_siblings(input);
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
        auto [geometry, output_shape] = window(network_.tensors[input].shape, false);
        output_shape.channels = below(20) + 1;
        append_convolution(input, geometry, add_tensor(output_shape));
    }
    void append_convolution(quantized::TensorId input, const ir::Window& geometry,
                            quantized::TensorId output) {
        const ir::FeatureMap shape = network_.tensors[input].shape;
        const ir::FeatureMap output_shape = network_.tensors[output].shape;
        quantized::Convolution operation;
        operation.window = geometry;
        operation.weights = weights(std::uint64_t{geometry.kernel_height} * geometry.kernel_width *
                                    shape.channels * output_shape.channels);
        operation.requantization = requantization(network_.tensors[output]);
        finish({input}, output, std::move(operation));
    }

    /// Convolutions of the same windows, each with an encoding of its own and sometimes read by another layer
    /// before the next; then a layer that reads those of one type.
    void add_siblings(quantized::TensorId input) {
        auto [geometry, shape] = window(network_.tensors[input].shape, false);
        std::vector<quantized::TensorId> outputs;
        const std::uint32_t count = below(3) + 2;
        while (outputs.size() < count) {
            shape.channels = below(20) + 1;
            outputs.push_back(add_tensor(shape));
            append_convolution(input, geometry, outputs.back());
            if (one_in(3)) add_lookup(outputs.back());
        }
        const DataType type = network_.tensors[outputs.front()].type;
        std::erase_if(outputs, [&](quantized::TensorId id) { return network_.tensors[id].type != type; });
        append_dense(std::move(outputs), add_tensor({1, 1, below(30) + 1}));
    }

    void add_depthwise(quantized::TensorId input) {
        const ir::FeatureMap shape = network_.tensors[input].shape;
        auto [geometry, output_shape] = window(shape, false);
        const std::uint32_t multiplier = below(3) + 1;
        if (shape.channels * multiplier > 40) return;
        output_shape.channels *= multiplier;
        append_depthwise(input, geometry, multiplier, add_tensor(output_shape));
    }
    void append_depthwise(quantized::TensorId input, const ir::Window& geometry, std::uint32_t multiplier,
                          quantized::TensorId output) {
        const ir::FeatureMap output_shape = network_.tensors[output].shape;
        quantized::DepthwiseConvolution operation;
        operation.window = geometry;
        operation.channel_multiplier = multiplier;
        operation.weights =
            weights(std::uint64_t{geometry.kernel_height} * geometry.kernel_width * output_shape.channels);
        operation.requantization = requantization(network_.tensors[output]);
        finish({input}, output, std::move(operation));
    }

    /// Of one input or more of one type.
    void add_dense(quantized::TensorId input) {
        std::vector<quantized::TensorId> inputs{input};
        for (quantized::TensorId id = 0; id < network_.tensors.size() && inputs.size() < 3; ++id) {
            if (one_in(4) && network_.tensors[id].type == network_.tensors[input].type) inputs.push_back(id);
        }
        append_dense(std::move(inputs), add_tensor({1, 1, below(30) + 1}));
    }
    void append_dense(std::vector<quantized::TensorId> inputs, quantized::TensorId output) {
        std::uint64_t elements = 0;
        for (const quantized::TensorId id : inputs) elements += network_.tensors[id].shape.elements();
        quantized::Dense operation;
        operation.weights = weights(elements * network_.tensors[output].shape.channels);
        operation.requantization = requantization(network_.tensors[output]);
        finish(std::move(inputs), output, std::move(operation));
    }

    void add_pool(quantized::TensorId input) {
        if (is_wide(input)) return add_lookup(input);
        const Tensor from = network_.tensors[input];
        quantized::Pool operation;
        operation.kind = one_in(2) ? quantized::PoolKind::Max : quantized::PoolKind::Average;
        operation.count_padding = one_in(2);
        const auto [geometry, output_shape] = window(from.shape, !operation.count_padding);
        operation.window = geometry;
        const quantized::TensorId output = add_tensor(output_shape, from.type);
        network_.tensors[output].zero_point = from.zero_point;
        finish({input}, output, operation);
    }

    /// Any tensor of this type and shape.
    quantized::TensorId pick_partner(quantized::TensorId a) {
        std::vector<quantized::TensorId> candidates;
        for (quantized::TensorId b = 0; b < network_.tensors.size(); ++b) {
            const Tensor& tensor = network_.tensors[b];
            const bool fits = tensor.shape == network_.tensors[a].shape;
            if (fits && tensor.type == network_.tensors[a].type) candidates.push_back(b);
        }
        return candidates[below(static_cast<std::uint32_t>(candidates.size()))];
    }

    void add_multiplication(quantized::TensorId a) {
        const quantized::TensorId b = pick_partner(a);
        const quantized::TensorId output = add_tensor(network_.tensors[a].shape, network_.tensors[a].type);
        quantized::Multiply operation;
        operation.multiplier = between(1 << 30, 0x7fffffff);
        operation.shift = is_wide(a) ? between(-18, -10) : between(-9, -3);
        std::tie(operation.minimum, operation.maximum) = range_of(network_.tensors[output]);
        finish({a, b}, output, operation);
    }

    void add_addition(quantized::TensorId a) {
        const quantized::TensorId b = pick_partner(a);
        const quantized::TensorId output = add_tensor(network_.tensors[a].shape, network_.tensors[a].type);
        quantized::Add operation;
        operation.multiplier_a = between(1 << 30, 0x7fffffff);
        operation.multiplier_b = between(1 << 30, 0x7fffffff);
        operation.multiplier = between(1 << 30, 0x7fffffff);
        operation.shift_a = between(-3, 0);
        operation.shift_b = between(-3, 0);
        operation.shift = is_wide(a) ? between(-15, -12) : between(-20, -17);
        std::tie(operation.minimum, operation.maximum) = range_of(network_.tensors[output]);
        finish({a, b}, output, operation);
    }

    /// Branches that end in one height, width and encoding, concatenated: new layers on the input, and
    /// tensors that are there already, whoever else reads them.
    void add_module(quantized::TensorId input) {
        const auto [geometry, shape] = window(network_.tensors[input].shape, true);
        if (shape.channels > 40) return;
        std::vector<quantized::TensorId> branches;
        const std::uint32_t count = below(4) + 2;
        while (branches.size() < count) branches.push_back(add_branch(input, geometry, shape));
        if (one_in(6)) branches.push_back(branches[below(count)]);
        add_concat(std::move(branches));
    }
    quantized::TensorId add_concat(std::vector<quantized::TensorId> branches) {
        const Tensor first = network_.tensors[branches[0]];
        ir::FeatureMap shape = first.shape;
        shape.channels = 0;
        for (const quantized::TensorId id : branches) shape.channels += network_.tensors[id].shape.channels;
        const quantized::TensorId output = add_like(first, shape);
        finish(std::move(branches), output, quantized::Concat{});
        return output;
    }

    /// The end of a branch that has the input's encoding and a result of this height and width.
    quantized::TensorId add_branch(quantized::TensorId input, const ir::Window& geometry,
                                   ir::FeatureMap shape) {
        const Tensor from = network_.tensors[input];
        switch (below(7)) {
            case 0:
                return add_pool_branch(input, geometry, shape);
            case 1:
                if (const auto any = any_like(from, shape)) return *any;
                return add_pool_branch(input, geometry, shape);
            case 2: {
                const quantized::TensorId output = add_like(from, shape);
                append_depthwise(input, geometry, 1, output);
                return output;
            }
            case 3: {
                // An element-wise layer at the end.
                const quantized::TensorId pooled = add_pool_branch(input, geometry, shape);
                const quantized::TensorId output = add_like(from, shape);
                finish({pooled}, output, quantized::Lookup{table(from.type)});
                return output;
            }
            case 4: {
                const quantized::TensorId a = add_branch(input, geometry, shape);
                const quantized::TensorId b = add_branch(input, geometry, shape);
                return add_concat({a, b});
            }
            default: {
                shape.channels = below(9) + 1;
                const quantized::TensorId output = add_like(from, shape);
                if (shape.height == 1 && shape.width == 1 && one_in(2)) {
                    append_dense({input}, output);
                } else {
                    append_convolution(input, geometry, output);
                }
                return output;
            }
        }
    }
    quantized::TensorId add_pool_branch(quantized::TensorId input, const ir::Window& geometry,
                                        const ir::FeatureMap& shape) {
        const quantized::TensorId output = add_like(network_.tensors[input], shape);
        if (is_wide(input)) {  // which nothing pools
            append_depthwise(input, geometry, 1, output);
            return output;
        }
        finish({input}, output,
               quantized::Pool{.kind = one_in(2) ? quantized::PoolKind::Max : quantized::PoolKind::Average,
                               .window = geometry,
                               .count_padding = one_in(3)});
        return output;
    }
    /// A tensor of this encoding. Taken by value: the list that the tensor may be in grows.
    quantized::TensorId add_like(Tensor tensor, ir::FeatureMap shape) {
        const quantized::TensorId id = add_tensor(shape, tensor.type);
        network_.tensors[id].zero_point = tensor.zero_point;
        return id;
    }
    /// Any tensor of this encoding, height and width.
    std::optional<quantized::TensorId> any_like(const Tensor& tensor, const ir::FeatureMap& shape) {
        std::vector<quantized::TensorId> candidates;
        for (quantized::TensorId id = 0; id < network_.tensors.size(); ++id) {
            const Tensor& other = network_.tensors[id];
            if (other.shape.height == shape.height && other.shape.width == shape.width &&
                other.type == tensor.type && other.zero_point == tensor.zero_point) {
                candidates.push_back(id);
            }
        }
        if (candidates.empty()) return std::nullopt;
        return candidates[below(static_cast<std::uint32_t>(candidates.size()))];
    }

    void add_lookup(quantized::TensorId input) {
        const DataType type = is_wide(input) ? DataType::Int16 : byte_type();
        const quantized::TensorId output = add_tensor(network_.tensors[input].shape, type);
        finish({input}, output, quantized::Lookup{table(type)});
    }

    /// A part of the elements, or all of them in another shape.
    void add_slice(quantized::TensorId input) {
        const Tensor from = network_.tensors[input];
        const auto elements = static_cast<std::uint32_t>(from.shape.elements());
        const std::uint32_t step = slice_bytes_ / bytes_of(from.type);
        const std::uint32_t first = step == 0 ? 0 : below((elements - 1) / step + 1) * step;
        const std::uint32_t count = one_in(3) ? elements - first : below(elements - first) + 1;
        finish({input}, add_like(from, {1, 1, count}), quantized::Slice{.first_element = first});
    }

    std::mt19937& random_;
    std::uint32_t slice_bytes_;
    quantized::Network network_;
};

}  // namespace systole::tests
