// Runs the graph on the calibration inputs and sets the range of each activation.
#include "compiler/passes/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <future>
#include <limits>
#include <span>

#include "compiler/ir/model_error.h"
#include "compiler/ir/names.h"
#include "compiler/operators/lowering.h"
#include "compiler/reference/executor.h"

namespace systole::passes {
namespace {

using ir::Range;

/// The ranges of activations over some of the inputs.
std::vector<Range> ranges_of(const ir::Graph& graph, std::span<const std::span<const float>> inputs,
                             std::uint32_t count) {
    std::vector<Range> ranges(graph.values.size());
    const auto widen = [&](ir::ValueId value_id, std::span<const float> values) {
        Range& range = ranges[value_id];
        // Branch-free, for the vector units. NaN never compares as smaller or larger, so finiteness is
        // checked separately.
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
                        graph.name, ir::quoted(graph.values[value_id].name), *wrong));
    };
    reference::execute(graph, inputs, count, widen);
    return ranges;
}

/// The ranges of activations over all inputs.
std::vector<Range> calibrated_ranges(const ir::Graph& graph, const Calibration& calibration) {
    if (calibration.count == 0) {
        throw ModelError(
            fmt::format("{}: there are no calibration inputs; quantization needs at least 1", graph.name));
    }
    std::vector<std::span<const float>> inputs{calibration.inputs};
    inputs.insert(inputs.end(), calibration.further_inputs.begin(), calibration.further_inputs.end());
    const std::uint32_t half = calibration.count / 2;
    std::vector<std::span<const float>> first_half;
    std::vector<std::span<const float>> second_half;
    for (std::size_t i = 0; i < inputs.size() && i < graph.inputs.size(); ++i) {
        const std::size_t elements = graph.values[graph.inputs[i]].shape.elements();
        if (inputs[i].size() != calibration.count * elements) continue;
        first_half.push_back(inputs[i].first(half * elements));
        second_half.push_back(inputs[i].subspan(half * elements));
    }
    if (half == 0 || first_half.size() != inputs.size()) return ranges_of(graph, inputs, calibration.count);
    // One half runs on another processor. The union of the ranges does not depend on the order.
    std::future<std::vector<Range>> others = std::async(
        std::launch::async, [&] { return ranges_of(graph, second_half, calibration.count - half); });
    std::vector<Range> ranges = ranges_of(graph, first_half, half);
    const std::vector<Range> other_ranges = others.get();
    for (std::size_t value = 0; value < ranges.size(); ++value) {
        ranges[value].minimum = std::min(ranges[value].minimum, other_ranges[value].minimum);
        ranges[value].maximum = std::max(ranges[value].maximum, other_ranges[value].maximum);
    }
    return ranges;
}

/// Ranges for a graph whose results cannot be computed. Instructions do not depend on the ranges, but on
/// whether the input has a range of its own; it has one, as in a graph with weights.
std::vector<Range> assumed_ranges(const ir::Graph& graph) {
    std::vector<Range> ranges(graph.values.size(), Range{-1.0F, 1.0F});
    for (const ir::ValueId input : graph.inputs) ranges[input] = {-2.0F, 2.0F};
    return ranges;
}

}  // namespace

ir::Graph calibrate(ir::Graph graph, const Calibration& calibration) {
    if (operators::is_quantized(graph)) return graph;
    const std::vector<Range> ranges =
        graph.has_weights ? calibrated_ranges(graph, calibration) : assumed_ranges(graph);
    for (ir::ValueId id = 0; id < graph.values.size(); ++id) {
        const ir::Value& value = graph.values[id];
        if (!value.constant && value.type == DataType::Float32) graph.values[id].range = ranges[id];
    }
    return graph;
}

}  // namespace systole::passes
