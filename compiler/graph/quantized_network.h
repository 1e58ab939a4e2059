#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/ir/window.h"
#include "hw/base/data_type.h"

/// The network as the chip computes it: tensors of 8 or 16 bits, int32 accumulation, fixed-point
/// requantization. What the quantization pass makes and the schedule reads; the integer reference executes it
/// directly.
namespace systole::quantized {

using TensorId = std::uint32_t;

/// real = scale * (stored - zero_point); the zero point of int16 is 0.
struct Tensor {
    std::string name;
    ir::FeatureMap shape;
    double scale = 1.0;
    std::int32_t zero_point = 0;
    DataType type = DataType::Uint8;

    bool operator==(const Tensor&) const = default;
};

/// Bytes of the tensor of one inference.
inline std::uint64_t image_bytes(const Tensor& tensor) {
    return tensor.shape.elements() * bytes_of(tensor.type);
}

/// A function of stored numbers: an entry for each byte, indexed by it; or 513 entries between which 16-bit
/// numbers are interpolated (docs/isa.md, wide lookup).
using ByteTable = std::array<std::uint8_t, 256>;
using WideTable = std::array<std::int16_t, 513>;
using Table = std::variant<ByteTable, WideTable>;

/// From int32 sums to stored outputs, by output channel:
/// clamp(zero_point + scale(sum + bias, multiplier, shift), minimum, maximum), then the table, if any, of
/// the output's width. The bias includes the correction for the input's zero point.
struct Requantization {
    std::vector<std::int32_t> bias;
    std::vector<std::int32_t> multiplier;  ///< Q31
    std::vector<std::int8_t> shift;        ///< power of two, positive to the left
    std::int32_t zero_point = 0;
    std::int32_t minimum = 0;
    std::int32_t maximum = 255;
    std::optional<Table> table;
};

/// weights[(kernel_row * kernel_width + kernel_column) * in_channels + c][filter], int8, symmetric.
/// Elements outside the image have the input's zero point.
struct Convolution {
    ir::Window window;
    std::vector<std::int8_t> weights;
    Requantization requantization;
};

/// Output channel c * multiplier + m sees input channel c alone:
/// weights[(kernel_row * kernel_width + kernel_column) * in_channels + c][m].
struct DepthwiseConvolution {
    ir::Window window;
    std::uint32_t channel_multiplier = 1;
    std::vector<std::int8_t> weights;
    Requantization requantization;
};

/// weights[input][output], the input flattened in height, width, channel order. Several inputs, of one type,
/// have their weights one behind the other; the bias corrects for the zero point of each.
struct Dense {
    std::vector<std::int8_t> weights;
    Requantization requantization;
};

enum class PoolKind : std::uint8_t { Max, Average };

/// Input and output have the same scale and zero point. Elements outside the image do not count,
/// unless `count_padding`: then they have the value of the zero point.
struct Pool {
    PoolKind kind = PoolKind::Max;
    ir::Window window;
    bool count_padding = false;
};

/// Element-wise sum of two tensors of one shape, as TFLite defines it (inputs shifted left by 20, 16-bit
/// ones by 15). All of one type.
struct Add {
    std::int32_t multiplier_a = 0, multiplier_b = 0, multiplier = 0;  ///< Q31
    std::int32_t shift_a = 0, shift_b = 0, shift = 0;                 ///< positive to the left
    std::int32_t minimum = 0, maximum = 255;
};

/// Element-wise product of two tensors of one shape: clamp(zero_point + scale((a - zero_point_a) *
/// (b - zero_point_b), multiplier, shift), minimum, maximum). All of one type.
struct Multiply {
    std::int32_t multiplier = 0;  ///< Q31
    std::int32_t shift = 0;       ///< positive to the left
    std::int32_t minimum = 0, maximum = 255;
};

/// Element-wise table. Input and output are as wide as the table's entries.
struct Lookup {
    Table table;
};

/// The input's elements from one on, in height, width, channel order, as many as the output has. Both have
/// one type, scale and zero point.
struct Slice {
    std::uint64_t first_element = 0;
};

/// The channels of the inputs, two or more, one behind the other. Inputs and output have one height, one
/// width, one scale and one zero point.
struct Concat {};

using Operation =
    std::variant<Convolution, DepthwiseConvolution, Dense, Pool, Add, Multiply, Lookup, Concat, Slice>;

struct Layer {
    std::string name;              ///< as in the network file: the layer that carries the weights
    std::vector<TensorId> inputs;  ///< one; two for Add and Multiply; more for Concat and Dense
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
    /// False: the layers' weights are empty, and scales, zero points, requantizations and tables say
    /// nothing. Such a network can be compiled to be timed, not computed.
    bool has_weights = true;
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
