#pragma once

#include <cstdint>
#include <vector>

#include "compiler/mapping/network.h"

namespace systole::schedule {

/// A part of each image of the network's input or output that is transferred separately.
struct HostPart {
    mapping::TensorId tensor = 0;  ///< the part's tensor, which has rows of its own
    std::uint64_t first_byte = 0;  ///< offset in the image in host memory
    std::uint32_t layer = 0;  ///< input: the first layer that reads it; output: the layer that computes it

    bool operator==(const HostPart&) const = default;
};

/// The parts in which the network's input is transferred, in the order in which they are read: the input
/// itself, or its slices if only slices are read. So the first layer of a recurrent network does not wait for
/// the states of all layers.
std::vector<HostPart> input_parts(const mapping::Network& network);

/// The parts in which the network's output is transferred, in the order in which they are computed: the
/// output itself, or the concatenated vectors if it is a concatenation of vectors, which saves the copies.
std::vector<HostPart> output_parts(const mapping::Network& network);

}  // namespace systole::schedule
