// Lets the channels of a tensor that a depthwise convolution reads fill the tensor's range. The tensor has
// one scale, so channels of small numbers would be left with a few steps. Both nodes have a scale of their
// own for the weights of each channel, which takes the factor without any loss.
#include "compiler/passes/equalize_channels.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "compiler/ir/border_values.h"
#include "compiler/operators/operator.h"

namespace systole::passes {
namespace {

using ir::Range;

/// A channel grows at most by this: what calibration saw of a channel that is seldom active may be far below
/// what other inputs give, and would then saturate.
constexpr float most_growth = 8.0F;

bool has_known_weights(const ir::Graph& graph, const ir::Node& node) {
    const ir::NodeView view(graph, node);
    const ir::Value* const weights = view.parameter(0);
    const ir::Value* const bias = view.parameter(1);
    const auto is_known = [](const ir::Value& value) {
        return value.type == DataType::Float32 && value.constant && value.constant->is_known();
    };
    return weights != nullptr && is_known(*weights) && (bias == nullptr || is_known(*bias));
}

/// The part of a tensor's range that one of its channels uses.
float share_of(const Range& channel, const Range& tensor) {
    float share = 0.0F;
    if (tensor.maximum > 0.0F) share = std::max(share, channel.maximum / tensor.maximum);
    if (tensor.minimum < 0.0F) share = std::max(share, channel.minimum / tensor.minimum);
    return share;
}

Range union_of(std::span<const Range> ranges) {
    Range all;
    for (const Range& range : ranges) {
        all.minimum = std::min(all.minimum, range.minimum);
        all.maximum = std::max(all.maximum, range.maximum);
    }
    return all;
}

/// Multiplies the constant at an input of a node, whose last axis is the output channel. Other nodes may read
/// the same constant, so the node gets its own.
void scale_constant(ir::Graph& graph, ir::NodeId node, std::size_t input, std::span<const float> factors) {
    const ir::Value old = graph.values[graph.nodes[node].inputs[input]];
    const std::span<const float> values = old.constant->values<float>();
    std::vector<float> scaled(values.begin(), values.end());
    for (std::size_t i = 0; i < scaled.size(); ++i) scaled[i] *= factors[i % factors.size()];
    graph.nodes[node].inputs[input] = graph.add_constant(old.name, old.shape, old.type, std::move(scaled));
}

}  // namespace

std::vector<ChannelChain> channel_chains(const ir::Graph& graph) {
    const auto readers = ir::readers(graph);
    const auto producers = ir::producers(graph);
    const ir::BorderValues border(graph);
    std::vector<ChannelChain> chains;
    // Without values nothing can be scaled, although some constants are known.
    if (!graph.has_weights) return chains;
    for (ir::NodeId reader = 0; reader < graph.nodes.size(); ++reader) {
        const ir::Node& node = graph.nodes[reader];
        if (!node.is("depthwise_convolution") || !has_known_weights(graph, node)) continue;
        ChannelChain chain{.producer = 0, .stored = {}, .reader = reader};
        std::optional<ir::ValueId> value = node.inputs.front();
        bool is_stored = true;
        while (value) {
            const ir::Value& between = graph.values[*value];
            const bool is_free = readers[*value].size() == 1 && !border.is_output(*value) &&
                                 between.type == DataType::Float32 && between.stored_as == DataType::Uint8;
            if (!is_free || !producers[*value]) break;
            if (is_stored) chain.stored.push_back(*value);
            chain.producer = *producers[*value];
            const ir::Node& producer = graph.nodes[chain.producer];
            const operators::Operator& op = operators::operator_of(producer);
            if (op.has_weights()) {
                if (has_known_weights(graph, producer)) chains.push_back(std::move(chain));
                break;
            }
            if (!op.scales_with_input(producer)) break;
            // What is clamped is not stored before.
            is_stored = !op.clamp_limit(producer);
            value = producer.inputs.front();
        }
    }
    return chains;
}

void equalize_channels(ir::Graph& graph, const ChannelChain& chain,
                       std::span<const std::vector<Range>> channels) {
    std::vector<float> shares(channels.front().size(), 1.0F / most_growth);
    for (const std::vector<Range>& ranges : channels) {
        const Range tensor = union_of(ranges);
        for (std::size_t c = 0; c < shares.size(); ++c) {
            shares[c] = std::max(shares[c], share_of(ranges[c], tensor));
        }
    }
    std::vector<float> growths;
    growths.reserve(shares.size());
    for (const float share : shares) growths.push_back(1.0F / share);
    const ir::NodeView producer(graph, graph.nodes[chain.producer]);
    const std::size_t first = producer.data_inputs();
    const bool has_bias = producer.constant(1) != nullptr;
    scale_constant(graph, chain.producer, first, growths);
    if (has_bias) scale_constant(graph, chain.producer, first + 1, growths);
    const auto multiplier = static_cast<std::size_t>(graph.nodes[chain.reader].integer("multiplier"));
    std::vector<float> repeated;  // by channel of the reader's result
    for (const float share : shares) repeated.insert(repeated.end(), multiplier, share);
    scale_constant(graph, chain.reader, 1, repeated);
}

}  // namespace systole::passes
