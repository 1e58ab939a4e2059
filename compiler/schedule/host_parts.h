#pragma once

#include <cstdint>
#include <vector>

#include "compiler/mapping/network.h"

namespace systole::schedule {

/// A part of each image of the network's input or output that the host moves for itself.
struct HostPart {
    mapping::TensorId tensor = 0;  ///< has rows of its own
    std::uint64_t first_byte = 0;  ///< of the image in host memory
    std::uint32_t layer = 0;       ///< the first that reads it or, of the output, the one that makes it

    bool operator==(const HostPart&) const = default;
};

/// What the network's input is brought in, in the order in which it is read: the input itself or, where only
/// slices of it are read, those. So a recurrent network's first layer does not wait for the states of all.
std::vector<HostPart> input_parts(const mapping::Network& network);

/// What the network's output is sent in, in the order in which it is made: the output itself or, where it is
/// a concatenation of vectors, what is concatenated. Nothing is copied to be together.
std::vector<HostPart> output_parts(const mapping::Network& network);

}  // namespace systole::schedule
