#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/mapping/tensor_use.h"
#include "compiler/target/tpu_v1/network/network.h"

namespace systole::tpu_v1 {

/// A part of each image of a network's input or output that is transferred separately.
struct HostPart {
    TensorId whole = 0;            ///< the network's input or output
    TensorId tensor = 0;           ///< the part's tensor, which has rows of its own
    std::uint64_t first_byte = 0;  ///< offset in the image in host memory
    std::uint32_t layer = 0;  ///< input: the first layer that reads it; output: the layer that computes it

    bool operator==(const HostPart&) const = default;
};

/// The parts in which the network's inputs are transferred, in the order in which they are read: an input
/// itself, or its slices if only slices are read. So the first layer of a recurrent network does not wait for
/// the states of all layers. Inputs that are only read in host memory have none.
std::vector<HostPart> input_parts(const Network& network, std::span<const mapping::TensorUse> uses);

/// The parts in which the network's outputs are transferred, in the order in which they are computed: an
/// output itself, or the concatenated vectors if it is a concatenation of vectors, which saves the copies.
/// Outputs that the host computes, or that layers send, have none.
std::vector<HostPart> output_parts(const Network& network, std::span<const mapping::TensorUse> uses);

}  // namespace systole::tpu_v1
