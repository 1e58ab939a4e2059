// Runs the graph on the calibration inputs, sets the range of each activation, and spreads channels over it.
#include "compiler/passes/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <future>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>

#include "base/message_text.h"
#include "compiler/ir/border_values.h"
#include "compiler/ir/encoding.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/operator.h"
#include "compiler/passes/equalize_channels.h"
#include "compiler/passes/value_histogram.h"
#include "compiler/reference/executor.h"

namespace systole::passes {
namespace {

using ir::Range;

/// By value: the one for which its numbers count. The results of a repeated part are one tensor, of which the
/// nodes make parts. What such a part moves has numbers that count already.
struct ObservedValues {
    std::vector<ir::ValueId> of;
    std::vector<bool> counts_already;
};
ObservedValues observed_values(const ir::Graph& graph) {
    ObservedValues values{.of = std::vector<ir::ValueId>(graph.values.size()),
                          .counts_already = std::vector<bool>(graph.values.size(), false)};
    std::iota(values.of.begin(), values.of.end(), ir::ValueId{0});
    for (const std::vector<ir::NodeId>& part : ir::repeated_nodes(graph)) {
        std::optional<ir::ValueId> first;
        for (const ir::NodeId id : part) {
            const ir::Node& node = graph.nodes[id];
            if (operators::operator_of(node).moves_elements() && node.inputs.size() == 1) {
                values.counts_already[node.output()] = !graph.values[node.inputs.front()].constant;
                continue;
            }
            if (!first) first = node.output();
            values.of[node.output()] = *first;
        }
    }
    for (const ir::Node& node : graph.nodes) {
        if (values.counts_already[node.output()]) values.of[node.output()] = values.of[node.inputs.front()];
    }
    return values;
}

/// What calibration saw of activations, by observed value.
struct Observations {
    std::vector<Range> ranges;
    /// The ranges of each channel, for the values of chains; empty for others.
    std::vector<std::vector<Range>> channels;
    std::vector<ValueHistogram> histograms;  ///< none, if they are not asked for
};

/// The graph that is observed, on which inputs, and what of it.
struct Observed {
    const ir::Graph& graph;
    const ObservedValues& values;
    std::span<const ChannelChain> chains;  ///< whose channels' ranges are noted
    bool histograms = false;
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

/// Observes the activations over some of the inputs.
Observations observe_some(const Observed& observed, std::span<const std::span<const float>> inputs,
                          std::uint32_t count) {
    const ir::Graph& graph = observed.graph;
    Observations seen{
        .ranges = std::vector<Range>(graph.values.size()),
        .channels = std::vector<std::vector<Range>>(graph.values.size()),
        .histograms = std::vector<ValueHistogram>(observed.histograms ? graph.values.size() : 0)};
    for (const ChannelChain& chain : observed.chains) {
        for (const ir::ValueId id : chain.stored) {
            seen.channels[id].resize(graph.values[id].shape.extents().back());
        }
    }
    const ir::BorderValues border(graph);
    // What the host alone computes, in floats, may be infinite, as the numbers of masked places are before a
    // softmax. The quantizer refuses to store such numbers.
    const auto observe = [&](ir::ValueId value_id, std::span<const float> values) {
        if (observed.values.counts_already[value_id]) return;
        Range range;
        bool has_nan = false;
        for (const float value : values) {
            range = widened(range, value);
            has_nan |= std::isnan(value);
        }
        if (has_nan) range = {std::numeric_limits<float>::quiet_NaN(), range.maximum};
        const bool is_border = border.is_input(value_id) || border.is_output(value_id);
        const std::optional<float> wrong = ir::end_without_size(range);
        if (wrong && (is_border || !seen.channels[value_id].empty())) {
            throw ModelError(
                fmt::format("{}: layer {}: it gives {} on a calibration input; results must be finite",
                            graph.name, in_quotes(graph.values[value_id].name), *wrong));
        }
        const ir::ValueId counts_for = observed.values.of[value_id];
        seen.ranges[counts_for] = ir::union_of(seen.ranges[counts_for], range);
        if (!seen.channels[value_id].empty()) widen_channels(seen.channels[value_id], values);
        if (observed.histograms) seen.histograms[counts_for].add(values);
    };
    reference::execute(graph, inputs, count, observe);
    return seen;
}

void widen(std::span<Range> ranges, std::span<const Range> others) {
    for (std::size_t i = 0; i < ranges.size(); ++i) ranges[i] = ir::union_of(ranges[i], others[i]);
}

/// Observes the activations over all inputs.
Observations observe(const Observed& observed, const Calibration& calibration) {
    const ir::Graph& graph = observed.graph;
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
        return observe_some(observed, inputs, calibration.count);
    // One half runs on another processor. The sum of what both saw does not depend on the order.
    std::future<Observations> others = std::async(
        std::launch::async, [&] { return observe_some(observed, second_half, calibration.count - half); });
    Observations seen = observe_some(observed, first_half, half);
    const Observations other = others.get();
    widen(seen.ranges, other.ranges);
    for (std::size_t value = 0; value < seen.channels.size(); ++value) {
        widen(seen.channels[value], other.channels[value]);
    }
    for (std::size_t value = 0; value < seen.histograms.size(); ++value) {
        seen.histograms[value].add(other.histograms[value]);
    }
    return seen;
}

/// Ranges for a graph whose results cannot be computed. Instructions do not depend on the ranges, but on
/// whether the input has a range of its own; it has one, as in a graph with weights.
Observations assumed(const ir::Graph& graph) {
    Observations seen{.ranges = std::vector<Range>(graph.values.size(), Range{-1.0F, 1.0F}),
                      .channels = {},
                      .histograms = {}};
    for (const ir::ValueId input : graph.inputs) seen.ranges[input] = {-2.0F, 2.0F};
    return seen;
}

/// The share of a tensor's numbers of each sign beyond the range of CalibrationMethod::Percentile.
constexpr double outliers = 1e-4;

/// By value: the function that alone reads its elements, from itself or from a value that has them, moved but
/// not scaled; none if there is no such function.
std::vector<operators::ElementFunction> only_functions(const ir::Graph& graph) {
    const std::vector<ir::ValueId> sources = operators::moved_sources(graph);
    std::vector<std::size_t> readers(graph.values.size(), 0);  // by source
    std::vector<operators::ElementFunction> functions(graph.values.size());
    for (const ir::ValueId output : graph.outputs) ++readers[sources[output]];
    for (const ir::Node& node : graph.nodes) {
        const operators::Operator& op = operators::operator_of(node);
        // An average is no element of its input.
        if (op.moves_elements() && !node.is("average_pool")) continue;
        for (const ir::ValueId input : node.inputs) {
            ++readers[sources[input]];
            if (auto function = op.function(node)) functions[sources[input]] = *std::move(function);
        }
    }
    for (ir::ValueId id = 0; id < functions.size(); ++id) {
        if (readers[id] != 1) functions[id] = nullptr;
    }
    return functions;
}

/// The range of a value by the method. `function` is the one that alone reads it, if there is one.
Range range_of(const ir::Graph& graph, ir::ValueId id, const Observations& seen, CalibrationMethod method,
               const operators::ElementFunction& function) {
    const Range& all = seen.ranges[id];
    // 16 bits have steps enough for all numbers.
    if (seen.histograms.empty() || graph.values[id].stored_as != DataType::Uint8 || ir::end_without_size(all))
        return all;
    switch (method) {
        case CalibrationMethod::MinMax:
            return all;
        case CalibrationMethod::Percentile:
            return seen.histograms[id].without_outliers(all, outliers);
        case CalibrationMethod::LeastError:
            return seen.histograms[id].with_least_error(
                all, static_cast<std::uint32_t>(highest_of(DataType::Uint8)), function);
    }
    throw std::logic_error("a method of calibration without ranges");
}

}  // namespace

ir::Graph calibrate(ir::Graph graph, const Calibration& calibration) {
    if (ir::is_quantized(graph)) return graph;
    const std::vector<ChannelChain> chains = channel_chains(graph);
    const ObservedValues values = observed_values(graph);
    const bool needs_histograms = graph.has_weights && calibration.method != CalibrationMethod::MinMax;
    Observations seen =
        graph.has_weights ? observe({graph, values, chains, needs_histograms && chains.empty()}, calibration)
                          : assumed(graph);
    for (const ChannelChain& chain : chains) {
        std::vector<std::vector<Range>> channels;
        for (const ir::ValueId id : chain.stored) channels.push_back(seen.channels[id]);
        equalize_channels(graph, chain, channels);
    }
    // Equal channels have other histograms.
    if (needs_histograms && !chains.empty()) seen = observe({graph, values, {}, true}, calibration);
    const ir::BorderValues border(graph);
    const std::vector<operators::ElementFunction> functions = only_functions(graph);
    std::vector<std::optional<Range>> ranges(graph.values.size());  // by observed value
    for (ir::ValueId id = 0; id < graph.values.size(); ++id) {
        ir::Value& value = graph.values[id];
        if (value.constant || value.type != DataType::Float32) continue;
        const ir::ValueId observed = values.of[id];
        if (border.is_output(id)) {
            // The largest output is the answer of a classifier.
            value.range = seen.ranges[observed];
            continue;
        }
        std::optional<Range>& range = ranges[observed];
        if (!range) range = range_of(graph, observed, seen, calibration.method, functions[observed]);
        value.range = range;
    }
    return graph;
}

}  // namespace systole::passes
