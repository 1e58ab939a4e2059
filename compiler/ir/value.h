#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/conversion.h"
#include "base/data_type.h"
#include "compiler/ir/constant.h"
#include "compiler/ir/shape.h"

namespace systole::ir {

/// The quantization of a tensor: real = scale * (stored - zero_point), with one scale and zero point for the
/// tensor, or one of each for every index of an axis.
struct Quantization {
    std::vector<double> scales;
    std::vector<std::int32_t> zero_points;
    std::optional<std::uint32_t> axis = {};  ///< absent: one scale for the whole tensor

    bool operator==(const Quantization&) const = default;
};

/// The type of a node's result, and the quantization that a file gives it.
struct ResultType {
    DataType type = DataType::Float32;
    std::optional<Quantization> quantization = {};
};

/// The range of a value's real numbers; it always includes 0. An end is NaN where one of the numbers is.
struct Range {
    float minimum = 0.0F;
    float maximum = 0.0F;

    bool operator==(const Range&) const = default;
};

/// A tensor of the graph: an input of the network, the result of a node, or a constant.
struct Value {
    std::string name;
    Shape shape;
    DataType type = DataType::Float32;
    std::optional<Quantization> quantization = {};
    std::optional<Constant> constant = {};
    std::optional<Range> range = {};  ///< of a float activation, after calibration
    /// Of an input of the network or a result: whether all inferences of a batch have the same elements,
    /// which are then there once. Those of constants are, too.
    bool is_shared = false;
    /// For a float activation: the type in which quantization shall store it.
    DataType stored_as = DataType::Uint8;
    /// For an input or output of the network: axis i of the file's tensor is axis file_axes[i] of this one.
    /// Empty: both have the same order.
    std::vector<std::uint32_t> file_axes = {};
    /// For an input or output of the network: the number format of its elements in files, where it is another
    /// one. A float of 16 bits is a float32 here; a narrow integer or a truth value is the int32 of the same
    /// number, and a uint32 that of the same bits.
    std::optional<DataType> file_type = {};
    /// For an input or output of a program of several replicas (Graph::replicas): the axis of the file's
    /// array along which the parts of all replicas lie; absent: all have the same array.
    std::optional<std::uint32_t> split_axis = {};
    /// For an input of stored integers: how real numbers in the user's files become such integers.
    Conversion conversion = Conversion::Nearest;
    /// While a pass runs: the value that this one was before it. Absent: the pass makes it. A pass that gives
    /// a value another shape makes another value (passes/pass_manager.h).
    std::optional<std::uint32_t> before = {};

    /// Whether each inference has elements of its own.
    bool has_batch() const { return !constant && !is_shared; }

    bool operator==(const Value&) const = default;
};

}  // namespace systole::ir
