#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/graph.h"

namespace systole::passes {

/// The encoding of the network's input: real = scale * (byte - zero_point).
struct InputEncoding {
    double scale = 1.0;
    std::int32_t zero_point = 0;
};

/// The range of a tensor of bytes, from the numbers that calibration saw in it. Tensors of 16 bits and the
/// network's outputs have that from the smallest to the largest.
enum class CalibrationMethod : std::uint8_t {
    MinMax,      ///< from the smallest to the largest
    Percentile,  ///< without the largest 0.01 % of the numbers of each sign
    LeastError,  ///< with the least mean squared error of these numbers as they are stored; of the results of
                 ///< a function, if nothing else reads them
};

/// Typical inputs of the network and their encoding.
struct Calibration {
    std::vector<float> inputs;  ///< of the network's first input: `count` of them, packed one after the other
    std::uint32_t count = 0;
    /// If absent, the encoding follows from the range of the inputs.
    std::optional<InputEncoding> encoding;
    std::vector<std::vector<float>> further_inputs =
        {};  ///< of the other inputs, in order; integers as floats
    CalibrationMethod method = CalibrationMethod::MinMax;
    /// Products of two computed matrices are computed on integers, as an array can, instead of in float.
    bool quantizes_products = false;
};

/// Runs the graph on the calibration inputs, equalizes the channels in front of depthwise convolutions
/// (equalize_channels.h), and sets the range of each activation by the method. In a graph without
/// weights, nothing can be computed, so activations get an arbitrary range. A graph on integers is returned
/// unchanged. Throws ModelError if there are no inputs, their size is wrong, or a result is not a finite
/// number.
ir::Graph calibrate(ir::Graph graph, const Calibration& calibration);

}  // namespace systole::passes
