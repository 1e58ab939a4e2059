#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/arithmetic.h"
#include "base/conversion.h"
#include "base/data_type.h"
#include "base/fixed_point.h"
#include "compiler/ir/constant.h"
#include "compiler/ir/feature_map.h"
#include "compiler/ir/window.h"
#include "compiler/mapping/tensor_use.h"
#include "hw/isa/instructions/vector.h"
#include "hw/isa/multipliers.h"

/// A network described by the kinds of work that the chip can do, a closed set, and segments of the host
/// between them. Operators are lowered to
/// these; schedule and emit read only this.
namespace systole::tpu_v1 {

using TensorId = mapping::TensorId;

/// real = scale * (stored - zero_point); the zero point of int16 is 0. Tensors that only the host reads and
/// writes may be of any type; those of real numbers have scale 1 and zero point 0.
struct Tensor {
    std::string name;
    ir::FeatureMap shape;
    double scale = 1.0;
    std::int32_t zero_point = 0;
    DataType type = DataType::Uint8;
    Conversion conversion = Conversion::Nearest;  ///< of an input of the network

    bool operator==(const Tensor&) const = default;
};

/// Bytes of the tensor of one inference.
inline std::uint64_t image_bytes(const Tensor& tensor) {
    return tensor.shape.elements() * bytes_of(tensor.type);
}

/// Rows of the unified buffer, of so many bytes, that the tensor of one inference fills.
inline std::uint64_t image_rows(const Tensor& tensor, std::uint32_t row_bytes) {
    return divide_up(image_bytes(tensor), std::uint64_t{row_bytes});
}

/// The table of a function of stored numbers: an entry for each byte, or 513 entries between which 16-bit
/// numbers are interpolated (docs/isa.md, wide lookup).
using ByteTable = std::array<std::uint8_t, 256>;
using WideTable = std::array<std::int16_t, 513>;
using Table = std::variant<ByteTable, WideTable>;

/// A table or none. Copies share it: a network has thousands of layers, and most have none.
class OptionalTable {
public:
    OptionalTable() = default;
    // NOLINTBEGIN(google-explicit-constructor): a table is one that is there
    OptionalTable(const Table& table) : table_(std::make_shared<const Table>(table)) {}
    OptionalTable(const ByteTable& table) : OptionalTable(Table(table)) {}
    OptionalTable(const WideTable& table) : OptionalTable(Table(table)) {}
    // NOLINTEND(google-explicit-constructor)

    bool has_value() const { return table_ != nullptr; }
    explicit operator bool() const { return has_value(); }
    const Table& operator*() const { return *table_; }
    /// Throws std::logic_error if there is none.
    const Table& value() const {
        if (!table_) throw std::logic_error("there is no table");
        return *table_;
    }
    bool operator==(const OptionalTable& other) const {
        return table_ == other.table_ || (table_ && other.table_ && *table_ == *other.table_);
    }

private:
    std::shared_ptr<const Table> table_;
};

/// The conversion of int32 sums to stored outputs, by output channel:
/// clamp(zero_point + scale(sum + bias, multiplier, shift), minimum, maximum), then the table, if any, which
/// has the output's width. The bias includes the correction for the input's zero point.
struct Requantization {
    std::vector<std::int32_t> bias;
    std::vector<std::int32_t> multiplier;      ///< Q31
    std::vector<std::int8_t> shift;            ///< power of two, positive to the left
    std::vector<double> real_multiplier = {};  ///< instead of both: the sum is multiplied in float64
    std::int32_t zero_point = 0;
    std::int32_t minimum = 0;
    std::int32_t maximum = 255;
    OptionalTable table;
    bool half_to_even = false;  ///< sums are rounded once, halves to the even number

    bool operator==(const Requantization&) const = default;

    isa::Multipliers multipliers() const {
        return isa::multipliers_of(!real_multiplier.empty(), half_to_even);
    }
};

/// A product of inputs and weights of 8 or 16 bits in the matrix unit, and the activation of the sums.
///
/// With a window, it has one input, an image; elements outside of it have the input's zero point. Input and
/// output channels are divided into groups of equal size, and an output channel depends on the input channels
/// of its group only: weights[kernel row][kernel column][input channel of the group][output channel].
/// Depthwise convolutions have a group for each input channel. The weights of a dilated window are those of
/// the kernel's own elements; its tiles have zeros between them (window_of_blocks).
///
/// Without a window, it reads whole inputs, flattened in height, width, channel order: weights[input
/// element][output]. Several inputs have the same type, and their weights follow each other.
///
/// With `written`, weights are computed, too: the second input, whose matrix h has the weights for matrix h
/// of the first; both, and the output, have as many matrices. The window is of one pixel. The program writes
/// the tiles of a matrix into weight memory before it streams the rows that they multiply.
struct MatrixProduct {
    /// How the matrices lie in the images. Matrix h is line h of each image or, of an image that is swapped,
    /// column h: heads then lie side by side in the channels of a position.
    struct Written {
        /// The pixels of a matrix of weights are output channels, and their channels input channels;
        /// otherwise the other way round.
        bool transposed = false;
        bool swapped_input = false;
        bool swapped_weights = false;
        bool swapped_output = false;

        bool operator==(const Written&) const = default;
    };

    std::optional<ir::Window> window;
    std::uint32_t groups = 1;               ///< of channels; 1 without a window
    ir::Constant weights;                   ///< unknown if the network has no weights
    DataType weight_type = DataType::Int8;  ///< or int16, for which the array needs more passes
    /// Subtracted from each weight; 0 unless the weights are int8. See array_weights.h.
    std::int32_t weight_zero_point = 0;
    Requantization requantization;
    std::optional<Written> written = {};

    bool operator==(const MatrixProduct&) const = default;
};

/// Matrices of an image, one for each head, by rows.
struct HeadMatrices {
    std::uint32_t heads = 0;
    std::uint32_t rows = 0;
    std::uint32_t columns = 0;
};

/// The matrices of an image: its lines or, if it is swapped, its columns.
inline HeadMatrices head_matrices(const ir::FeatureMap& image, bool is_swapped) {
    return is_swapped ? HeadMatrices{image.width, image.height, image.channels}
                      : HeadMatrices{image.height, image.width, image.channels};
}

/// Whether the array multiplies the layer's rows with weights that the program writes.
inline bool writes_weights(const MatrixProduct& product) {
    return product.written.has_value();
}

/// MaxPool or AveragePool over windows of 8-bit elements. Input and output have the same scale and zero
/// point. Elements outside the image do not count, or have the value of the zero point with `count_padding`.
struct Pooling {
    isa::VectorOperation operation = isa::VectorOperation::MaxPool;
    ir::Window window;
    bool count_padding = false;

    bool operator==(const Pooling&) const = default;
};

/// Vector work on each element:
/// - Add, of two tensors, as in TFLite: inputs are shifted left by 20 (16-bit inputs by 15) and scaled by `a`
///   and `b`, their sum is scaled by `result`;
/// - Multiply, of two tensors: clamp(zero_point + scale((a - zero_point_a) * (b - zero_point_b), result),
///   minimum, maximum);
/// - Lookup, of one tensor: the table. Input and output are as wide as its entries.
/// All tensors of a sum or a product have the same type and shape.
struct Elementwise {
    isa::VectorOperation operation = isa::VectorOperation::Add;
    FixedPoint a, b, result;
    std::int32_t minimum = 0;
    std::int32_t maximum = 255;
    OptionalTable table;        ///< of Lookup
    bool half_to_even = false;  ///< of Add and Multiply: each scaling rounds once, halves to even

    bool operator==(const Elementwise&) const = default;
};

/// The concatenation of inputs along the channels, two or more, or along the lines, one or more. Inputs and
/// output have the same type, scale and zero point, and their other sizes are the same. Takes no time for
/// inputs that are written in place.
struct Concatenation {
    enum class Axis : std::uint8_t { Channels, Lines };
    Axis axis = Axis::Channels;
    /// Along channels, of one input or more: the output has more channels than the inputs. Nothing reads the
    /// rest, of which the values have no meaning.
    bool leaves_rest = false;

    bool operator==(const Concatenation&) const = default;
};

/// Consecutive elements of the input in height, width, channel order, as many as the output has. Both have
/// the same type, scale and zero point. Takes no time: readers read the input's rows.
struct Slice {
    std::uint64_t first_element = 0;
};

/// Layers that the host computes (Layer::outputs), on tensors in host memory. Tensors of the chip are sent
/// there before, and results that the chip reads are fetched behind.
struct HostSegment {
    std::vector<std::string> layers;       ///< of the network file
    std::vector<std::uint64_t> macs = {};  ///< of one inference, by layer; empty: none has any
    /// Text of the graph (compiler/ir/text.h), with inputs and outputs in order; null in a network that is
    /// only timed. It has the constants, and the network is copied for each mapping: copies share it.
    std::shared_ptr<const std::string> graph;
    std::uint64_t operations = 0;      ///< floating-point operations of one inference
    std::uint64_t bytes = 0;           ///< of memory traffic of one inference, besides constants
    std::uint64_t constant_bytes = 0;  ///< of constants
};

/// Brings consecutive elements of the images of a tensor in host memory to the chip, as many as the output
/// has. Both have the same type, scale and zero point.
struct Fetch {
    std::uint64_t first_element = 0;
};

/// Sends a tensor to consecutive elements of the images of a tensor in host memory. Both have the same type,
/// scale and zero point. Several layers may send parts of the same tensor; layers behind all of them read it.
struct Send {
    std::uint64_t first_element = 0;
};

using Work =
    std::variant<MatrixProduct, Pooling, Elementwise, Concatenation, Slice, HostSegment, Fetch, Send>;

struct Layer {
    std::string name;              ///< as in the network file; for merged layers, the layer with the weights
    std::vector<TensorId> inputs;  ///< that the work reads
    TensorId output = 0;           ///< of the chip's work; of a host segment the first
    Work work;
    std::uint64_t macs =
        0;  ///< of one inference, without the zeros that a tile holds for its layout (depthwise)
    std::vector<TensorId> outputs = {};  ///< all of a host segment; empty for the chip's work
    /// Of a layer that is computed in strips of its lines: the layer of the first strip, also in that layer
    /// itself. All strips have the weights, the requantization and the tables of the first. Of other work on
    /// a layer's behalf (transfers, slices, concatenations): the layer in whose name it is reported.
    std::optional<std::uint32_t> part_of = {};
    /// Of a part of a layer that is written out many times, such as the steps of a recurrence
    /// (share_repeats): an earlier layer that does the same work on other data and repeats none. Both have
    /// the same weights, requantization and tables, and are reported together. Layers that are joined share
    /// them if those that they are joined to do.
    std::optional<std::uint32_t> repeats = {};
};

inline bool runs_on_host(const Layer& layer) {
    return std::holds_alternative<HostSegment>(layer.work);
}

/// Whether the layer reads its inputs, or leaves its outputs, in host memory.
inline bool reads_host_memory(const Layer& layer) {
    return runs_on_host(layer) || std::holds_alternative<Fetch>(layer.work);
}
inline bool writes_host_memory(const Layer& layer) {
    return runs_on_host(layer) || std::holds_alternative<Send>(layer.work);
}

/// The tensors that the layer computes.
inline std::span<const TensorId> outputs_of(const Layer& layer) {
    return runs_on_host(layer) ? std::span<const TensorId>(layer.outputs)
                               : std::span<const TensorId>(&layer.output, 1);
}

/// The layers are ordered such that every tensor is written before it is read.
struct Network {
    std::string name;
    std::vector<Tensor> tensors;
    std::vector<Layer> layers;
    std::vector<TensorId> inputs = {0};   ///< each once
    std::vector<TensorId> outputs = {0};  ///< each once
    /// Of one inference of each output, by the graph: a tensor may lie in memory in another shape. Empty:
    /// those of the tensors.
    std::vector<std::vector<std::uint32_t>> output_shapes = {};
    /// False: the layers' weights are unknown, and scales, zero points, requantizations and tables have no
    /// meaning. Such a network can be timed but not computed.
    bool has_weights = true;
    /// Work of the host on the output, in order: {"softmax", layer name}.
    struct HostOperation {
        std::string kind;
        std::string layer;
    };
    std::vector<HostOperation> host_operations;
};

}  // namespace systole::tpu_v1
