#include "compiler/reference/integer_executor.h"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>

#include "compiler/reference/fixed_point.h"

namespace systole::reference {
namespace {

using graph::Shape;
using graph::Window;
using quantized::Tensor;

void require(bool holds, const quantized::Layer& layer, const char* rule) {
    if (!holds) throw std::logic_error(fmt::format("quantized layer \"{}\": {}", layer.name, rule));
}

/// One image of a tensor, read as the integers its bytes stand for.
class Image {
public:
    Image(const Tensor& tensor, const std::uint8_t* bytes)
        : shape_(tensor.shape), is_signed_(tensor.is_signed), bytes_(bytes) {}

    const Shape& shape() const { return shape_; }

    std::int32_t at(std::size_t element) const {
        const std::uint8_t byte = bytes_[element];
        return is_signed_ ? static_cast<std::int8_t>(byte) : byte;
    }

    /// Where a pixel's first channel is; nothing outside the image.
    std::optional<std::size_t> pixel(std::int64_t y, std::int64_t x) const {
        if (y < 0 || x < 0 || y >= shape_.height || x >= shape_.width) return std::nullopt;
        return (static_cast<std::size_t>(y) * shape_.width + static_cast<std::size_t>(x)) * shape_.channels;
    }

private:
    const Shape& shape_;
    bool is_signed_;
    const std::uint8_t* bytes_;
};

/// Calls visit(y, x, kernel_row, kernel_column) for each element of the window of one output pixel; y and
/// x may lie outside the image.
template <typename Visit>
void for_each_in_window(const Window& window, std::uint32_t output_y, std::uint32_t output_x, Visit visit) {
    const std::int64_t top = std::int64_t{output_y} * window.stride_y - window.pad_top;
    const std::int64_t left = std::int64_t{output_x} * window.stride_x - window.pad_left;
    for (std::uint32_t row = 0; row < window.kernel_height; ++row) {
        for (std::uint32_t column = 0; column < window.kernel_width; ++column) {
            visit(top + row, left + column, row, column);
        }
    }
}

/// Calls visit(y, x, first element of the output) for each pixel of the output.
template <typename Visit>
void for_each_pixel(const Shape& output, Visit visit) {
    std::size_t element = 0;
    for (std::uint32_t y = 0; y < output.height; ++y) {
        for (std::uint32_t x = 0; x < output.width; ++x) {
            visit(y, x, element);
            element += output.channels;
        }
    }
}

/// sums[i] += value * weights[i]. Zeros, which ReLU makes many of, add nothing.
void multiply_add(std::int32_t value, const std::int8_t* weights, std::vector<std::int32_t>& sums) {
    if (value == 0) return;
    const std::size_t count = sums.size();
    std::int32_t* sum = sums.data();
    for (std::size_t i = 0; i < count; ++i)
        sum[i] = wrap(std::int64_t{sum[i]} + std::int64_t{value} * weights[i]);
}

void requantize(const std::vector<std::int32_t>& sums, const quantized::Requantization& rules,
                std::uint8_t* output) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const std::int32_t sum = wrap(std::int64_t{sums[i]} + rules.bias[i]);
        const std::int32_t scaled = scale(sum, rules.multiplier[i], rules.shift[i]);
        const auto byte = static_cast<std::uint8_t>(
            offset_and_clamp(scaled, rules.zero_point, rules.minimum, rules.maximum));
        output[i] = rules.table ? (*rules.table)[byte] : byte;
    }
}

/// The mean of `count` stored values, halves away from zero.
std::int32_t rounded_mean(std::int64_t sum, std::int64_t count) {
    const std::int64_t half = count / 2;
    return static_cast<std::int32_t>(sum >= 0 ? (sum + half) / count : (sum - half) / count);
}

/// Computes one layer for one image.
struct ExecuteLayer {
    const quantized::Layer& layer;
    std::span<const Tensor* const> input_tensors;
    std::span<const std::uint8_t* const> input_bytes;
    const Tensor& output_tensor;
    std::uint8_t* output;

    Image input(std::size_t index) const { return {*input_tensors[index], input_bytes[index]}; }

    void check_requantization(const quantized::Requantization& rules) const {
        const std::size_t channels = output_tensor.shape.channels;
        require(rules.bias.size() == channels && rules.multiplier.size() == channels &&
                    rules.shift.size() == channels,
                layer, "the requantization must have one entry for each output channel");
    }

    void operator()(const quantized::Convolution& convolution) const {
        const Image image = input(0);
        const std::size_t filters = output_tensor.shape.channels;
        const std::size_t channels = image.shape().channels;
        const Window& window = convolution.window;
        const std::int32_t outside = input_tensors[0]->zero_point;
        check_requantization(convolution.requantization);
        require(convolution.weights.size() ==
                    std::size_t{window.kernel_height} * window.kernel_width * channels * filters,
                layer, "the weights must be kernel elements * input channels * filters");
        std::vector<std::int32_t> sums(filters);
        for_each_pixel(output_tensor.shape, [&](std::uint32_t y, std::uint32_t x, std::size_t element) {
            sums.assign(filters, 0);
            const std::int8_t* weights = convolution.weights.data();
            for_each_in_window(window, y, x, [&](std::int64_t in_y, std::int64_t in_x, auto, auto) {
                const auto pixel = image.pixel(in_y, in_x);
                for (std::size_t c = 0; c < channels; ++c, weights += filters) {
                    multiply_add(pixel ? image.at(*pixel + c) : outside, weights, sums);
                }
            });
            requantize(sums, convolution.requantization, output + element);
        });
    }

    void operator()(const quantized::DepthwiseConvolution& convolution) const {
        const Image image = input(0);
        const std::size_t channels = image.shape().channels;
        const std::size_t multiplier = convolution.channel_multiplier;
        const Window& window = convolution.window;
        const std::int32_t outside = input_tensors[0]->zero_point;
        check_requantization(convolution.requantization);
        require(output_tensor.shape.channels == channels * multiplier, layer,
                "the output channels must be input channels * channel multiplier");
        require(convolution.weights.size() ==
                    std::size_t{window.kernel_height} * window.kernel_width * channels * multiplier,
                layer, "the weights must be kernel elements * output channels");
        std::vector<std::int32_t> sums(channels * multiplier);
        for_each_pixel(output_tensor.shape, [&](std::uint32_t y, std::uint32_t x, std::size_t element) {
            sums.assign(channels * multiplier, 0);
            const std::int8_t* weight = convolution.weights.data();
            for_each_in_window(window, y, x, [&](std::int64_t in_y, std::int64_t in_x, auto, auto) {
                const auto pixel = image.pixel(in_y, in_x);
                for (std::size_t c = 0; c < channels; ++c) {
                    const std::int32_t value = pixel ? image.at(*pixel + c) : outside;
                    for (std::size_t m = 0; m < multiplier; ++m) {
                        std::int32_t& sum = sums[c * multiplier + m];
                        sum = wrap(std::int64_t{sum} + std::int64_t{value} * *weight++);
                    }
                }
            });
            requantize(sums, convolution.requantization, output + element);
        });
    }

    void operator()(const quantized::Dense& dense) const {
        const Image image = input(0);
        const std::size_t inputs = image.shape().elements();
        const std::size_t outputs = output_tensor.shape.channels;
        check_requantization(dense.requantization);
        require(output_tensor.shape.elements() == outputs, layer, "a dense layer's output must be a vector");
        require(dense.weights.size() == inputs * outputs, layer, "the weights must be inputs * outputs");
        std::vector<std::int32_t> sums(outputs, 0);
        for (std::size_t i = 0; i < inputs; ++i) {
            multiply_add(image.at(i), dense.weights.data() + i * outputs, sums);
        }
        requantize(sums, dense.requantization, output);
    }

    void operator()(const quantized::Pool& pool) const {
        const Image image = input(0);
        require(output_tensor.shape.channels == image.shape().channels, layer, "pooling keeps the channels");
        for_each_pixel(output_tensor.shape, [&](std::uint32_t y, std::uint32_t x, std::size_t element) {
            for (std::uint32_t c = 0; c < output_tensor.shape.channels; ++c) {
                std::int64_t sum = 0;
                std::int64_t count = 0;
                std::int32_t largest = 0;
                for_each_in_window(pool.window, y, x, [&](std::int64_t in_y, std::int64_t in_x, auto, auto) {
                    const auto pixel = image.pixel(in_y, in_x);
                    if (!pixel && !pool.count_padding) return;
                    const std::int32_t value = pixel ? image.at(*pixel + c) : input_tensors[0]->zero_point;
                    largest = count == 0 ? value : std::max(largest, value);
                    sum += value;
                    ++count;
                });
                require(count > 0, layer, "a pooling window must touch the image");
                const std::int32_t value =
                    pool.kind == quantized::PoolKind::Max ? largest : rounded_mean(sum, count);
                output[element + c] = static_cast<std::uint8_t>(value);
            }
        });
    }

    void operator()(const quantized::Add& add) const {
        constexpr int headroom_bits = 20;
        require(input_tensors.size() == 2 && input_tensors[0]->shape == input_tensors[1]->shape, layer,
                "an addition must have two inputs of one shape");
        const Image a = input(0);
        const Image b = input(1);
        const auto term = [](std::int32_t value, std::int32_t zero_point, std::int32_t multiplier,
                             std::int32_t shift) {
            return scale((value - zero_point) * (1 << headroom_bits), multiplier, shift);
        };
        for (std::size_t i = 0; i < output_tensor.shape.elements(); ++i) {
            const std::int64_t sum =
                std::int64_t{term(a.at(i), input_tensors[0]->zero_point, add.multiplier_a, add.shift_a)} +
                term(b.at(i), input_tensors[1]->zero_point, add.multiplier_b, add.shift_b);
            const std::int32_t scaled = scale(wrap(sum), add.multiplier, add.shift);
            output[i] = static_cast<std::uint8_t>(
                offset_and_clamp(scaled, output_tensor.zero_point, add.minimum, add.maximum));
        }
    }

    void operator()(const quantized::Lookup& lookup) const {
        for (std::size_t i = 0; i < output_tensor.shape.elements(); ++i) {
            output[i] = lookup.table[input_bytes[0][i]];
        }
    }
};

}  // namespace

std::vector<TensorBytes> execute_all(const quantized::Network& network, std::span<const std::uint8_t> input,
                                     std::uint32_t batch) {
    const std::size_t input_bytes = network.tensors.at(network.input).shape.elements() * batch;
    if (input.size() != input_bytes) {
        throw std::logic_error(fmt::format("the input has {} bytes; {} images of the network need {}",
                                           input.size(), batch, input_bytes));
    }
    std::vector<TensorBytes> tensors(network.tensors.size());
    tensors[network.input].assign(input.begin(), input.end());
    for (const quantized::Layer& layer : network.layers) {
        const Tensor& output = network.tensors.at(layer.output);
        TensorBytes output_bytes(output.shape.elements() * batch);
        std::vector<const Tensor*> inputs;
        for (const quantized::TensorId id : layer.inputs) inputs.push_back(&network.tensors.at(id));
        for (std::uint32_t image = 0; image < batch; ++image) {
            std::vector<const std::uint8_t*> images;
            for (std::size_t i = 0; i < inputs.size(); ++i) {
                const TensorBytes& bytes = tensors[layer.inputs[i]];
                require(!bytes.empty(), layer, "its inputs must be made before it");
                images.push_back(bytes.data() + inputs[i]->shape.elements() * image);
            }
            std::uint8_t* destination = output_bytes.data() + output.shape.elements() * image;
            std::visit(ExecuteLayer{layer, inputs, images, output, destination}, layer.operation);
        }
        tensors[layer.output] = std::move(output_bytes);
    }
    return tensors;
}

TensorBytes execute(const quantized::Network& network, std::span<const std::uint8_t> input,
                    std::uint32_t batch) {
    return std::move(execute_all(network, input, batch)[network.output]);
}

}  // namespace systole::reference
