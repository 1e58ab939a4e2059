#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/graph.h"

namespace systole::passes {

/// What a stored byte of the network's input stands for: real = scale * (byte - zero_point).
struct InputEncoding {
    double scale = 1.0;
    std::int32_t zero_point = 0;
};

/// Inputs the network will typically see, and how they will be stored.
struct Calibration {
    std::vector<float> inputs;  ///< `count` inputs, packed one after the other
    std::uint32_t count = 0;
    /// Absent: the encoding follows from the range of the inputs above.
    std::optional<InputEncoding> encoding;
};

/// Runs the graph on the calibration inputs and gives each activation its range. In a graph without the
/// values of its weights, nothing can be computed: activations have some range. A graph on integers stays as
/// it is. Throws ModelError where there are no inputs, their size is wrong, or a result is not a finite
/// number.
ir::Graph calibrate(ir::Graph graph, const Calibration& calibration);

}  // namespace systole::passes
