#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/ir/constant.h"
#include "compiler/ir/feature_map.h"
#include "compiler/ir/window.h"
#include "hw/base/data_type.h"
#include "hw/base/fixed_point.h"
#include "hw/isa/instructions/vector.h"

/// The network as work of the chip: a closed set of kinds of work. Operators lower themselves to it; schedule
/// and emit read nothing else.
namespace systole::mapping {

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

/// Inputs streamed through the matrix unit against int8 weights, and the activation of the sums.
///
/// With a window, of one image: weights[kernel row][kernel column][input channel][output channel]; elements
/// outside the image have the input's zero point. Where there is a channel multiplier, output channel
/// c * multiplier + m sees input channel c alone: weights[kernel row][kernel column][output channel].
///
/// Without a window, of whole inputs, flattened in height, width, channel order: weights[input
/// element][output]. Several inputs, of one type, have their weights one behind the other.
struct MatrixProduct {
    std::optional<ir::Window> window;
    std::optional<std::uint32_t> channel_multiplier;
    ir::Constant weights;  ///< not known where the network has no weights
    Requantization requantization;
};

/// Windows of 8-bit elements, MaxPool or AveragePool. Input and output have the same scale and zero point.
/// Elements outside the image do not count, unless `count_padding`: then they have the value of the zero
/// point.
struct Pooling {
    isa::VectorOperation operation = isa::VectorOperation::MaxPool;
    ir::Window window;
    bool count_padding = false;
};

/// Vector work on each element by itself:
/// - Add, of two tensors, as TFLite defines it: inputs shifted left by 20 (16-bit ones by 15), scaled by `a`
///   and `b`, their sum by `result`;
/// - Multiply, of two tensors: clamp(zero_point + scale((a - zero_point_a) * (b - zero_point_b), result),
///   minimum, maximum);
/// - Lookup, of one tensor: the table. Input and output are as wide as its entries.
/// All tensors of a sum or a product are of one type and shape.
struct Elementwise {
    isa::VectorOperation operation = isa::VectorOperation::Add;
    FixedPoint a, b, result;
    std::int32_t minimum = 0;
    std::int32_t maximum = 255;
    std::optional<Table> table;  ///< of Lookup
};

/// The channels of the inputs, two or more, one behind the other. Inputs and output have one height, one
/// width, one type, one scale and one zero point. Costs nothing where the inputs are made in place.
struct Concatenation {};

/// The input's elements from one on, in height, width, channel order, as many as the output has. Both have
/// one type, scale and zero point. Costs nothing: the reader reads the input's rows.
struct Slice {
    std::uint64_t first_element = 0;
};

using Work = std::variant<MatrixProduct, Pooling, Elementwise, Concatenation, Slice>;

struct Layer {
    std::string name;              ///< as in the network file: the layer that carries the weights
    std::vector<TensorId> inputs;  ///< that the work reads
    TensorId output = 0;
    Work work;
    std::uint64_t macs = 0;  ///< multiply-accumulates of one inference, without structural zeros
};

/// Layers are in an order in which every tensor is made before it is read.
struct Network {
    std::string name;
    std::vector<Tensor> tensors;
    std::vector<Layer> layers;
    TensorId input = 0;
    TensorId output = 0;
    /// False: the layers' weights are not known, and scales, zero points, requantizations and tables say
    /// nothing. Such a network can be compiled to be timed, not computed.
    bool has_weights = true;
    /// Work left to the host on the output, in order: {"softmax", layer name}.
    struct HostOperation {
        std::string kind;
        std::string layer;
    };
    std::vector<HostOperation> host_operations;
};

/// Whether filters of all input channels move over the image: a convolution that is not depthwise.
inline bool is_convolution(const MatrixProduct& product) {
    return product.window && !product.channel_multiplier;
}

}  // namespace systole::mapping
