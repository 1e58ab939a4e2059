// Runs the graph on the calibration inputs and records the range of each node's result.
#include "compiler/passes/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/graph/shape_text.h"
#include "compiler/model_error.h"
#include "compiler/reference/float_executor.h"

namespace systole::passes {

std::vector<Range> calibrate(const graph::Graph& graph, const Calibration& calibration) {
    if (calibration.count == 0) {
        throw ModelError(
            fmt::format("{}: there are no calibration inputs; quantization needs at least 1", graph.name));
    }
    std::vector<Range> ranges(graph.nodes.size());
    const auto widen = [&](graph::NodeId node, std::span<const float> values) {
        Range& range = ranges[node];
        for (const float value : values) {
            if (!std::isfinite(value)) {
                throw ModelError(
                    fmt::format("{}: layer {}: it gives {} on a calibration input; results must be finite",
                                graph.name, graph::quoted(graph.nodes[node].name), value));
            }
            range.minimum = std::min(range.minimum, value);
            range.maximum = std::max(range.maximum, value);
        }
    };
    reference::execute(graph, calibration.inputs, calibration.count, widen);
    return ranges;
}

}  // namespace systole::passes
