// Corrects the biases of layers with weights: inputs behind a ReLU have means above 0, with which the
// rounding errors of weights add up.
#include "compiler/passes/correct_biases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/message_text.h"
#include "compiler/ir/encoding.h"
#include "compiler/operators/operator.h"
#include "compiler/reference/executor.h"

namespace systole::passes {
namespace {

/// Inputs that means are taken over: they change little with more.
constexpr std::uint32_t most_inputs = 16;

/// The mean of each index of the last axis, by value.
using Means = std::vector<std::vector<double>>;

/// Of the values that nodes with weights read.
Means means_of(const ir::Graph& graph, const Calibration& calibration) {
    std::vector<bool> is_wanted(graph.values.size(), false);
    for (const ir::Node& node : graph.nodes) {
        if (!operators::operator_of(node).has_weights()) continue;
        for (const ir::ValueId input : node.inputs) is_wanted[input] = true;
    }
    Means sums(graph.values.size());
    std::vector<double> counts(graph.values.size(), 0.0);
    const std::uint32_t count = std::min(calibration.count, most_inputs);
    std::vector<std::span<const float>> inputs{calibration.inputs};
    inputs.insert(inputs.end(), calibration.further_inputs.begin(), calibration.further_inputs.end());
    for (std::span<const float>& input : inputs)
        input = input.first(input.size() / calibration.count * count);
    reference::execute(graph, inputs, count, [&](ir::ValueId id, std::span<const float> values) {
        if (!is_wanted[id]) return;
        const auto extents = graph.values[id].shape.extents();
        const std::size_t channels = extents.empty() ? 1 : extents.back();
        sums[id].resize(channels, 0.0);
        for (std::size_t i = 0; i < values.size(); ++i) sums[id][i % channels] += double{values[i]};
        const std::size_t rows = values.size() / channels;
        counts[id] += static_cast<double>(rows);
    });
    for (std::size_t id = 0; id < sums.size(); ++id) {
        for (double& sum : sums[id]) sum /= counts[id];
    }
    return sums;
}

[[noreturn]] void fail(const ir::Node& node, std::string_view what) {
    throw std::logic_error(
        fmt::format("the biases of layer {} cannot be corrected: {}", in_quotes(node.name), what));
}

/// What a node and its quantized form have in common: the names of the node and of its weights.
using NodeKey = std::pair<std::string, std::string>;

NodeKey key_of(const ir::NodeView& node) {
    return {node.node().name, node.constant(0)->name};
}

/// The nodes of a graph on whose weights `is_wanted` holds, by what their other form has in common with them.
/// Those of the same key have the graph's order.
template <typename Wanted>
std::map<NodeKey, std::vector<ir::NodeId>> weighted_nodes(const ir::Graph& graph, const Wanted& is_wanted) {
    std::map<NodeKey, std::vector<ir::NodeId>> nodes;
    for (ir::NodeId id = 0; id < graph.nodes.size(); ++id) {
        const ir::NodeView node(graph, graph.nodes[id]);
        if (!operators::operator_of(node.node()).has_weights()) continue;
        const ir::Value* const weights = node.parameter(0);
        if (weights != nullptr && weights->constant && is_wanted(*weights)) nodes[key_of(node)].push_back(id);
    }
    return nodes;
}

/// The means of a value, of which the run in float must have shown at least one number.
const std::vector<double>& seen_means(const Means& means, const ir::Node& node, std::size_t input) {
    const std::vector<double>& of_input = means[node.inputs[input]];
    if (of_input.empty()) fail(node, fmt::format("nothing computed its input {}", input));
    return of_input;
}

/// The means of the data inputs of nodes that have the same weights, over all these nodes.
Means means_of_inputs(const ir::Graph& real, std::span<const ir::NodeId> nodes, const Means& means) {
    const std::size_t inputs = ir::NodeView(real, real.nodes[nodes.front()]).data_inputs();
    Means of_all(inputs);
    for (std::size_t i = 0; i < inputs; ++i) {
        for (const ir::NodeId id : nodes) {
            const std::vector<double>& of_node = seen_means(means, real.nodes[id], i);
            of_all[i].resize(of_node.size(), 0.0);
            for (std::size_t c = 0; c < of_node.size(); ++c) of_all[i][c] += of_node[c];
        }
        for (double& sum : of_all[i]) sum /= static_cast<double>(nodes.size());
    }
    return of_all;
}

/// The means of the numbers that the weights of each output channel are multiplied with.
class MultipliedMeans {
public:
    /// `means`: of each data input; they must outlive this object.
    MultipliedMeans(const ir::NodeView& real, const Means& means) {
        if (real.node().is("dense")) {
            for (std::size_t i = 0; i < means.size(); ++i) {
                const std::vector<double>& of_input = means[i];
                for (std::size_t row = 0; row < real.input(i).shape.elements(); ++row)
                    of_rows_.emplace_back(of_input.at(row % of_input.size()), i);
            }
            return;
        }
        if (!real.node().is("convolution") && !real.node().is("depthwise_convolution")) {
            fail(real.node(), fmt::format("there is no rule for {}", real.node().op->name()));
        }
        of_channels_ = &means.front();
        const auto extents = real.constant(0)->shape.extents();
        if (real.node().is("convolution")) {
            channels_ = extents[extents.size() - 2];
            outputs_of_channels_ = extents.back() / static_cast<std::size_t>(real.node().integer("groups"));
        } else {
            outputs_of_channels_ = static_cast<std::size_t>(real.node().integer("multiplier"));
        }
    }

    /// Of weight `row` of the output channel, and the data input that it belongs to.
    std::pair<double, std::size_t> of(std::size_t row, std::size_t output) const {
        if (of_channels_ == nullptr) return of_rows_.at(row);
        return {of_channels_->at(output / outputs_of_channels_ * channels_ + row % channels_), 0};
    }

    /// How many neighbouring output channels have one answer of `of`, for each row.
    std::size_t outputs_alike(std::size_t outputs) const {
        return of_channels_ == nullptr ? outputs : outputs_of_channels_;
    }

private:
    std::vector<std::pair<double, std::size_t>> of_rows_;  ///< of a dense layer: the answers of `of`
    const std::vector<double>* of_channels_ = nullptr;     ///< of a convolution's input
    std::size_t channels_ = 1;                             ///< that an output channel takes
    std::size_t outputs_of_channels_ = 1;                  ///< output channels that take the same
};

/// The bias of a layer on integers without what the rounding of its weights adds to its mean.
std::vector<std::int32_t> corrected(const ir::NodeView& stored, const ir::NodeView& real,
                                    const Means& means) {
    const std::span<const std::int8_t> weights = stored.constant(0)->constant->values<std::int8_t>();
    const std::span<const float> exact = real.constant(0)->constant->values<float>();
    const std::span<const std::int32_t> bias = stored.constant(1)->constant->values<std::int32_t>();
    const std::vector<double>& scales = stored.constant(0)->quantization->scales;
    std::vector<double> input_scales;
    for (std::size_t i = 0, count = stored.data_inputs(); i < count; ++i) {
        input_scales.push_back(ir::encoding_of(stored.input(i)).scale);
    }
    // All inputs count with the largest scale: see quantize_weights.
    const double input_scale = *std::ranges::max_element(input_scales);
    const std::int64_t input_steps =
        std::int64_t{highest_of(stored.input().type)} - lowest_of(stored.input().type);
    const MultipliedMeans multiplied(real, means);
    const std::size_t outputs = bias.size();
    std::vector<double> errors(outputs, 0.0);
    std::vector<std::int64_t> largest(outputs, 0);
    const std::size_t alike = multiplied.outputs_alike(outputs);
    for (std::size_t first = 0; first < weights.size(); first += alike) {
        const std::size_t output = first % outputs;
        const auto [mean, input] = multiplied.of(first / outputs, output);
        const double factor = input_scale / input_scales[input];
        for (std::size_t i = 0; i < alike; ++i) {
            const double weight = weights[first + i] * scales[output + i] * factor;
            errors[output + i] += (weight - double{exact[first + i]}) * mean;
            largest[output + i] += std::abs(std::int64_t{weights[first + i]}) * input_steps;
        }
    }
    std::vector<std::int32_t> result(bias.begin(), bias.end());
    for (std::size_t output = 0; output < outputs; ++output) {
        const double numbers = bias[output] - errors[output] / (input_scale * scales[output]);
        // No sum may overflow.
        const double room =
            double{std::numeric_limits<std::int32_t>::max()} - static_cast<double>(largest[output]);
        if (std::abs(numbers) <= room) result[output] = static_cast<std::int32_t>(std::lround(numbers));
    }
    return result;
}

/// Fails unless a node of the quantized graph has the rounded weights of its form in float, and a bias.
void check_pair(const ir::NodeView& stored, const ir::NodeView& real) {
    const ir::Value& weights = *stored.constant(0);
    const ir::Value* const bias = stored.constant(1);
    if (bias == nullptr || bias->type != DataType::Int32) fail(stored.node(), "it has no bias of int32");
    if (weights.shape != real.constant(0)->shape) {
        fail(stored.node(), fmt::format("its weights are {}, and {} in float", ir::to_text(weights.shape),
                                        ir::to_text(real.constant(0)->shape)));
    }
    if (weights.quantization->scales.size() != bias->shape.elements()) {
        fail(stored.node(), "its weights have no scale for each output channel");
    }
}

}  // namespace

ir::Graph correct_biases(ir::Graph quantized, const ir::Graph& real, const Calibration& calibration) {
    if (!real.has_weights) return quantized;
    const auto real_nodes = weighted_nodes(real, [](const ir::Value& weights) {
        return weights.type == DataType::Float32 && weights.constant->is_known();
    });
    // Layers that stay in float have nothing rounded, and those that were integers in the file have the
    // file's own biases.
    const auto was_rounded = [&](const ir::Value& weights) {
        return weights.type == DataType::Int8 && weights.constant->is_known();
    };
    const auto nodes = weighted_nodes(quantized, was_rounded);
    const auto integer_nodes = weighted_nodes(real, was_rounded);
    std::optional<Means> means;
    for (const auto& [key, of_key] : nodes) {
        if (integer_nodes.contains(key)) continue;
        const auto found = real_nodes.find(key);
        const std::size_t count = found == real_nodes.end() ? 0 : found->second.size();
        if (count != of_key.size()) {
            fail(quantized.nodes[of_key.front()],
                 fmt::format("{} in float for {} on integers", counted(count, "layer"), of_key.size()));
        }
        if (!means) means = means_of(real, calibration);
        // The nodes of a repeated part may have one bias.
        std::map<ir::ValueId, std::vector<std::size_t>> by_bias;
        for (std::size_t i = 0; i < count; ++i) {
            const ir::NodeView stored(quantized, quantized.nodes[of_key[i]]);
            check_pair(stored, {real, real.nodes[found->second[i]]});
            by_bias[stored.node().inputs[stored.data_inputs() + 1]].push_back(i);
        }
        for (const auto& [bias, places] : by_bias) {
            std::vector<ir::NodeId> exact;
            for (const std::size_t i : places) exact.push_back(found->second[i]);
            const ir::NodeView stored(quantized, quantized.nodes[of_key[places.front()]]);
            quantized.values[bias].constant = ir::Constant::of(
                corrected(stored, {real, real.nodes[exact.front()]}, means_of_inputs(real, exact, *means)));
        }
    }
    return quantized;
}

}  // namespace systole::passes
