// Runs the graph on the calibration inputs and records the range of each node's result.
#include "compiler/passes/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

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
        // Branch-free, for the vector units; a value that is no number never compares as smaller or larger,
        // so finiteness is looked at apart.
        float minimum = range.minimum;
        float maximum = range.maximum;
        bool finite = true;
        for (const float value : values) {
            minimum = value < minimum ? value : minimum;
            maximum = value > maximum ? value : maximum;
            finite &= std::abs(value) <= std::numeric_limits<float>::max();
        }
        range = {minimum, maximum};
        if (finite) return;
        const auto wrong =
            std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
        throw ModelError(
            fmt::format("{}: layer {}: it gives {} on a calibration input; results must be finite",
                        graph.name, graph::quoted(graph.nodes[node].name), *wrong));
    };
    reference::execute(graph, calibration.inputs, calibration.count, widen);
    return ranges;
}

}  // namespace systole::passes
