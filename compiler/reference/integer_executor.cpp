#include "compiler/reference/integer_executor.h"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>

#include "compiler/reference/fixed_point.h"

namespace systole::reference {
namespace {

using ir::FeatureMap;
using ir::Window;
using quantized::Tensor;

void require(bool holds, const quantized::Layer& layer, const char* rule) {
    if (!holds) throw std::logic_error(fmt::format("quantized layer \"{}\": {}", layer.name, rule));
}

/// One image of a tensor, read as the integers its bytes stand for.
class Image {
public:
    Image(const Tensor& tensor, const std::uint8_t* bytes)
        : shape_(tensor.shape), type_(tensor.type), bytes_(bytes) {}

    const FeatureMap& shape() const { return shape_; }

    std::int32_t at(std::size_t element) const {
        switch (type_) {
            case DataType::Uint8:
                return bytes_[element];
            case DataType::Int8:
                return static_cast<std::int8_t>(bytes_[element]);
            case DataType::Int16:
                return static_cast<std::int16_t>(bytes_[2 * element] + 256 * bytes_[2 * element + 1]);
            case DataType::Uint16:
            case DataType::Int32:
            case DataType::Bfloat16:
            case DataType::Float32:
                break;
        }
        throw std::logic_error("the chip stores no such elements");
    }

    /// Where a pixel's first channel is; nothing outside the image.
    std::optional<std::size_t> pixel(std::int64_t y, std::int64_t x) const {
        if (y < 0 || x < 0 || y >= shape_.height || x >= shape_.width) return std::nullopt;
        return (static_cast<std::size_t>(y) * shape_.width + static_cast<std::size_t>(x)) * shape_.channels;
    }

private:
    const FeatureMap& shape_;
    DataType type_;
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
void for_each_pixel(const FeatureMap& output, Visit visit) {
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

/// Where the results of one image of a tensor go.
class Results {
public:
    Results(const Tensor& tensor, std::uint8_t* bytes)
        : element_bytes_(bytes_of(tensor.type)), bytes_(bytes) {}

    /// Stores the low bits.
    void store(std::size_t element, std::int32_t value) const {
        for (std::size_t i = 0; i < element_bytes_; ++i) {
            bytes_[element * element_bytes_ + i] = static_cast<std::uint8_t>(value >> (8 * i));
        }
    }

private:
    std::size_t element_bytes_;
    std::uint8_t* bytes_;
};

/// The table's value at a stored number, whose low bits count.
struct LookUp {
    std::int32_t value;

    std::int32_t operator()(const quantized::ByteTable& table) const {
        return table[static_cast<std::uint8_t>(value)];
    }
    std::int32_t operator()(const quantized::WideTable& table) const {
        const std::int32_t offset = static_cast<std::int16_t>(value) + 32768;
        const auto entry = static_cast<std::size_t>(offset / 128);
        const std::int32_t beyond = offset % 128;
        // The mean of both entries, weighted, in 128ths; one half more and rounded down.
        const std::int32_t sum = table[entry] * (128 - beyond) + table[entry + 1] * beyond + 64;
        return sum >= 0 ? sum / 128 : -((127 - sum) / 128);
    }
};

void requantize(const std::vector<std::int32_t>& sums, const quantized::Requantization& rules,
                const Results& output, std::size_t first_element) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const std::int32_t sum = wrap(std::int64_t{sums[i]} + rules.bias[i]);
        const std::int32_t scaled = scale(sum, rules.multiplier[i], rules.shift[i]);
        const std::int32_t value = offset_and_clamp(scaled, rules.zero_point, rules.minimum, rules.maximum);
        output.store(first_element + i, rules.table ? std::visit(LookUp{value}, *rules.table) : value);
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
    Results output;

    Image input(std::size_t index) const { return {*input_tensors[index], input_bytes[index]}; }

    void check_requantization(const quantized::Requantization& rules) const {
        const std::size_t channels = output_tensor.shape.channels;
        require(rules.bias.size() == channels && rules.multiplier.size() == channels &&
                    rules.shift.size() == channels,
                layer, "the requantization must have one entry for each output channel");
        if (rules.table) check_table(*rules.table, output_tensor);
    }

    void check_table(const quantized::Table& table, const Tensor& tensor) const {
        require(std::holds_alternative<quantized::WideTable>(table) == (bytes_of(tensor.type) == 2), layer,
                "a table must be as wide as what it is for");
    }

    void check_one_type() const {
        for (const Tensor* tensor : input_tensors) {
            require(tensor->type == output_tensor.type, layer, "inputs and output must be of one type");
        }
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
            requantize(sums, convolution.requantization, output, element);
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
            requantize(sums, convolution.requantization, output, element);
        });
    }

    void operator()(const quantized::Dense& dense) const {
        const std::size_t outputs = output_tensor.shape.channels;
        std::size_t inputs = 0;
        for (const Tensor* tensor : input_tensors) inputs += tensor->shape.elements();
        check_requantization(dense.requantization);
        require(output_tensor.shape.elements() == outputs, layer, "a dense layer's output must be a vector");
        require(dense.weights.size() == inputs * outputs, layer, "the weights must be inputs * outputs");
        std::vector<std::int32_t> sums(outputs, 0);
        const std::int8_t* weights = dense.weights.data();
        for (std::size_t i = 0; i < input_tensors.size(); ++i) {
            const Image image = input(i);
            for (std::size_t element = 0; element < image.shape().elements(); ++element) {
                multiply_add(image.at(element), weights, sums);
                weights += outputs;
            }
        }
        requantize(sums, dense.requantization, output, 0);
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
                output.store(element + c, value);
            }
        });
    }

    void operator()(const quantized::Add& add) const {
        const int headroom_bits = bytes_of(output_tensor.type) == 2 ? 15 : 20;
        require(input_tensors.size() == 2 && input_tensors[0]->shape == input_tensors[1]->shape, layer,
                "an addition must have two inputs of one shape");
        check_one_type();
        const Image a = input(0);
        const Image b = input(1);
        const auto term = [headroom_bits](std::int32_t value, std::int32_t zero_point,
                                          std::int32_t multiplier, std::int32_t shift) {
            return scale((value - zero_point) * (1 << headroom_bits), multiplier, shift);
        };
        for (std::size_t i = 0; i < output_tensor.shape.elements(); ++i) {
            const std::int64_t sum =
                std::int64_t{term(a.at(i), input_tensors[0]->zero_point, add.multiplier_a, add.shift_a)} +
                term(b.at(i), input_tensors[1]->zero_point, add.multiplier_b, add.shift_b);
            const std::int32_t scaled = scale(wrap(sum), add.multiplier, add.shift);
            output.store(i, offset_and_clamp(scaled, output_tensor.zero_point, add.minimum, add.maximum));
        }
    }

    void operator()(const quantized::Multiply& multiply) const {
        require(input_tensors.size() == 2 && input_tensors[0]->shape == input_tensors[1]->shape, layer,
                "a product must have two inputs of one shape");
        check_one_type();
        const Image a = input(0);
        const Image b = input(1);
        for (std::size_t i = 0; i < output_tensor.shape.elements(); ++i) {
            const std::int64_t product = std::int64_t{a.at(i) - input_tensors[0]->zero_point} *
                                         (b.at(i) - input_tensors[1]->zero_point);
            const std::int32_t scaled = scale(wrap(product), multiply.multiplier, multiply.shift);
            output.store(
                i, offset_and_clamp(scaled, output_tensor.zero_point, multiply.minimum, multiply.maximum));
        }
    }

    void operator()(const quantized::Lookup& lookup) const {
        check_table(lookup.table, *input_tensors[0]);
        check_table(lookup.table, output_tensor);
        const Image image = input(0);
        for (std::size_t i = 0; i < output_tensor.shape.elements(); ++i) {
            output.store(i, std::visit(LookUp{image.at(i)}, lookup.table));
        }
    }

    void operator()(const quantized::Slice& slice) const {
        check_one_type();
        const Image image = input(0);
        const std::size_t elements = output_tensor.shape.elements();
        require(slice.first_element <= image.shape().elements() &&
                    elements <= image.shape().elements() - slice.first_element,
                layer, "a slice must lie within its input");
        for (std::size_t i = 0; i < elements; ++i) output.store(i, image.at(slice.first_element + i));
    }

    void operator()(const quantized::Concat&) const {
        const FeatureMap& shape = output_tensor.shape;
        std::size_t first_channel = 0;
        for (std::size_t i = 0; i < input_tensors.size(); ++i) {
            const Tensor& tensor = *input_tensors[i];
            require(tensor.shape.height == shape.height && tensor.shape.width == shape.width, layer,
                    "a concatenation's tensors must have one height and width");
            require(tensor.scale == output_tensor.scale && tensor.zero_point == output_tensor.zero_point &&
                        tensor.type == output_tensor.type,
                    layer, "a concatenation's tensors must be encoded alike");
            for (std::size_t element = 0; element < tensor.shape.elements(); ++element) {
                const std::size_t pixel = element / tensor.shape.channels;
                const std::size_t channel = first_channel + element % tensor.shape.channels;
                output.store(pixel * shape.channels + channel, input(i).at(element));
            }
            first_channel += tensor.shape.channels;
        }
        require(first_channel == shape.channels, layer, "a concatenation's channels must add up");
    }
};

}  // namespace

std::vector<TensorBytes> execute_all(const quantized::Network& network, std::span<const std::uint8_t> input,
                                     std::uint32_t batch) {
    const std::size_t input_bytes = quantized::image_bytes(network.tensors.at(network.input)) * batch;
    if (input.size() != input_bytes) {
        throw std::logic_error(fmt::format("the input has {} bytes; {} images of the network need {}",
                                           input.size(), batch, input_bytes));
    }
    std::vector<TensorBytes> tensors(network.tensors.size());
    tensors[network.input].assign(input.begin(), input.end());
    for (const quantized::Layer& layer : network.layers) {
        const Tensor& output = network.tensors.at(layer.output);
        TensorBytes output_bytes(quantized::image_bytes(output) * batch);
        std::vector<const Tensor*> inputs;
        for (const quantized::TensorId id : layer.inputs) inputs.push_back(&network.tensors.at(id));
        for (std::uint32_t image = 0; image < batch; ++image) {
            std::vector<const std::uint8_t*> images;
            for (std::size_t i = 0; i < inputs.size(); ++i) {
                const TensorBytes& bytes = tensors[layer.inputs[i]];
                require(!bytes.empty(), layer, "its inputs must be made before it");
                images.push_back(bytes.data() + quantized::image_bytes(*inputs[i]) * image);
            }
            std::uint8_t* destination = output_bytes.data() + quantized::image_bytes(output) * image;
            std::visit(ExecuteLayer{layer, inputs, images, output, Results(output, destination)},
                       layer.operation);
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
