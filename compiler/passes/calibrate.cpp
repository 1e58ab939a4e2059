// Runs the graph on the calibration inputs, sets the range of each activation, and spreads channels over it.
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
#include "compiler/passes/equalize_channels.h"
#include "compiler/reference/executor.h"

namespace systole::passes {
namespace {

using ir::Range;

/// The ranges of activations, by value.
struct Ranges {
    std::vector<Range> whole;
    /// Of each channel, for the values of chains; empty for others.
    std::vector<std::vector<Range>> channels;
};

/// Branch-free, for the vector units. NaN never compares as smaller or larger.
Range widened(const Range& range, float value) {
    return {value < range.minimum ? value : range.minimum, value > range.maximum ? value : range.maximum};
}

void widen_channels(std::vector<Range>& channels, std::span<const float> values) {
    for (std::size_t first = 0; first < values.size(); first += channels.size()) {
        for (std::size_t c = 0; c < channels.size(); ++c) {
            channels[c] = widened(channels[c], values[first + c]);
        }
    }
}

/// The ranges of activations over some of the inputs.
Ranges ranges_of(const ir::Graph& graph, std::span<const ChannelChain> chains,
                 std::span<const std::span<const float>> inputs, std::uint32_t count) {
    Ranges ranges{.whole = std::vector<Range>(graph.values.size()),
                  .channels = std::vector<std::vector<Range>>(graph.values.size())};
    for (const ChannelChain& chain : chains) {
        for (const ir::ValueId id : chain.stored) {
            ranges.channels[id].resize(graph.values[id].shape.extents().back());
        }
    }
    const auto widen = [&](ir::ValueId value_id, std::span<const float> values) {
        Range range = ranges.whole[value_id];
        bool finite = true;
        for (const float value : values) {
            range = widened(range, value);
            finite &= std::abs(value) <= std::numeric_limits<float>::max();
        }
        ranges.whole[value_id] = range;
        if (!ranges.channels[value_id].empty()) widen_channels(ranges.channels[value_id], values);
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

void widen(std::span<Range> ranges, std::span<const Range> others) {
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        ranges[i].minimum = std::min(ranges[i].minimum, others[i].minimum);
        ranges[i].maximum = std::max(ranges[i].maximum, others[i].maximum);
    }
}

/// The ranges of activations over all inputs.
Ranges calibrated_ranges(const ir::Graph& graph, std::span<const ChannelChain> chains,
                         const Calibration& calibration) {
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
    if (half == 0 || first_half.size() != inputs.size())
        return ranges_of(graph, chains, inputs, calibration.count);
    // One half runs on another processor. The union of the ranges does not depend on the order.
    std::future<Ranges> others = std::async(
        std::launch::async, [&] { return ranges_of(graph, chains, second_half, calibration.count - half); });
    Ranges ranges = ranges_of(graph, chains, first_half, half);
    const Ranges other_ranges = others.get();
    widen(ranges.whole, other_ranges.whole);
    for (std::size_t value = 0; value < ranges.channels.size(); ++value) {
        widen(ranges.channels[value], other_ranges.channels[value]);
    }
    return ranges;
}

/// Ranges for a graph whose results cannot be computed. Instructions do not depend on the ranges, but on
/// whether the input has a range of its own; it has one, as in a graph with weights.
Ranges assumed_ranges(const ir::Graph& graph) {
    Ranges ranges{.whole = std::vector<Range>(graph.values.size(), Range{-1.0F, 1.0F}), .channels = {}};
    for (const ir::ValueId input : graph.inputs) ranges.whole[input] = {-2.0F, 2.0F};
    return ranges;
}

}  // namespace

ir::Graph calibrate(ir::Graph graph, const Calibration& calibration) {
    if (operators::is_quantized(graph)) return graph;
    const std::vector<ChannelChain> chains = channel_chains(graph);
    const Ranges ranges =
        graph.has_weights ? calibrated_ranges(graph, chains, calibration) : assumed_ranges(graph);
    for (ir::ValueId id = 0; id < graph.values.size(); ++id) {
        const ir::Value& value = graph.values[id];
        if (!value.constant && value.type == DataType::Float32) graph.values[id].range = ranges.whole[id];
    }
    for (const ChannelChain& chain : chains) {
        std::vector<std::vector<Range>> channels;
        for (const ir::ValueId id : chain.stored) channels.push_back(ranges.channels[id]);
        equalize_channels(graph, chain, channels);
    }
    return graph;
}

}  // namespace systole::passes
