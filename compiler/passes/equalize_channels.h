#pragma once

#include <span>
#include <vector>

#include "compiler/ir/graph.h"

namespace systole::passes {

/// A node with weights, functions that scale with their input, and a depthwise convolution, each the only
/// reader of the one before: the scale of each channel between them may be chosen freely.
struct ChannelChain {
    ir::NodeId producer;
    std::vector<ir::ValueId> stored;  ///< values between both that quantization stores
    ir::NodeId reader;
};

/// The chains of a float graph whose weights are known; none without values.
std::vector<ChannelChain> channel_chains(const ir::Graph& graph);

/// Scales the channels between the ends of a chain so that each fills more of its tensor's range, and the
/// weights of the reader so that its results stay the same. `channels` has the ranges of each channel of the
/// stored values, in their order. The ranges of whole tensors do not change.
void equalize_channels(ir::Graph& graph, const ChannelChain& chain,
                       std::span<const std::vector<ir::Range>> channels);

}  // namespace systole::passes
