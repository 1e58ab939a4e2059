#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/graph/tensor_shape.h"

/// The network as the chip computes it: 8-bit tensors, int32 accumulation, fixed-point requantization.
/// What the quantization pass makes and the schedule reads; the integer reference executes it directly.
namespace systole::quantized {

using TensorId = std::uint32_t;

/// real = scale * (stored - zero_point); stored is uint8, or int8 where `is_signed`.
struct Tensor {
    std::string name;
    graph::Shape shape;
    double scale = 1.0;
    std::int32_t zero_point = 0;
    bool is_signed = false;

    bool operator==(const Tensor&) const = default;
};

/// From int32 sums to stored outputs, by output channel:
/// clamp(zero_point + scale(sum + bias, multiplier, shift), minimum, maximum), then the table, if any,
/// indexed by the value's low byte. The bias includes the correction for the input's zero point.
struct Requantization {
    std::vector<std::int32_t> bias;
    std::vector<std::int32_t> multiplier;  ///< Q31
    std::vector<std::int8_t> shift;        ///< power of two, positive to the left
    std::int32_t zero_point = 0;
    std::int32_t minimum = 0;
    std::int32_t maximum = 255;
    std::optional<std::array<std::uint8_t, 256>> table;
};

/// weights[(kernel_row * kernel_width + kernel_column) * in_channels + c][filter], int8, symmetric.
/// Elements outside the image have the input's zero point.
struct Convolution {
    graph::Window window;
    std::vector<std::int8_t> weights;
    Requantization requantization;
};

/// Output channel c * multiplier + m sees input channel c alone:
/// weights[(kernel_row * kernel_width + kernel_column) * in_channels + c][m].
struct DepthwiseConvolution {
    graph::Window window;
    std::uint32_t channel_multiplier = 1;
    std::vector<std::int8_t> weights;
    Requantization requantization;
};

/// weights[input][output], the input flattened in height, width, channel order.
struct Dense {
    std::vector<std::int8_t> weights;
    Requantization requantization;
};

enum class PoolKind : std::uint8_t { Max, Average };

/// Input and output have the same scale and zero point. Elements outside the image do not count,
/// unless `count_padding`: then they have the value of the zero point.
struct Pool {
    PoolKind kind = PoolKind::Max;
    graph::Window window;
    bool count_padding = false;
};

/// Element-wise sum of two tensors of one shape, as TFLite defines it (inputs shifted left by 20).
struct Add {
    std::int32_t multiplier_a = 0, multiplier_b = 0, multiplier = 0;  ///< Q31
    std::int32_t shift_a = 0, shift_b = 0, shift = 0;                 ///< positive to the left
    std::int32_t minimum = 0, maximum = 255;
};

/// Element-wise table, indexed by the stored byte.
struct Lookup {
    std::array<std::uint8_t, 256> table{};
};

using Operation = std::variant<Convolution, DepthwiseConvolution, Dense, Pool, Add, Lookup>;

struct Layer {
    std::string name;              ///< as in the network file: the layer that carries the weights
    std::vector<TensorId> inputs;  ///< one, or two for Add
    TensorId output = 0;
    Operation operation;
};

/// Layers are in an order in which every tensor is made before it is read.
struct Network {
    std::string name;
    std::vector<Tensor> tensors;
    std::vector<Layer> layers;
    TensorId input = 0;
    TensorId output = 0;
    /// Work left to the host on the output, in order: {"softmax", layer name}.
    struct HostOperation {
        std::string kind;
        std::string layer;
    };
    std::vector<HostOperation> host_operations;
};

/// Multiply-accumulates a layer needs for one inference (pooling and element-wise work: 0).
std::uint64_t macs(const Network& network, const Layer& layer);

}  // namespace systole::quantized
