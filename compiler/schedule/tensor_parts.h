#pragma once

#include <cstdint>
#include <vector>

#include "compiler/mapping/network.h"

namespace systole::schedule {

/// Where a tensor's channels lie: in rows of its own, among the channels of a concatenated tensor, or, of a
/// slice, where its elements lie anyhow.
struct TensorPart {
    mapping::TensorId whole = 0;      ///< itself, if its rows are its own
    std::uint64_t first_channel = 0;  ///< of a pixel of the whole; of a slice: element of its image
    bool is_slice = false;

    bool operator==(const TensorPart&) const = default;
};

/// For each tensor of the network, where it lies. What a concatenation alone reads lies in the concatenated
/// tensor, if the layer that makes it can write channels among others (`activate` and pooling can, work on
/// whole rows cannot); a slice lies in what it is a slice of; everything else has rows of its own, and
/// concatenations copy it. What the host moves for itself (host_parts.h) has rows of its own, too. So readers
/// find each tensor they read packed. Tensor ids must be valid.
std::vector<TensorPart> place_parts(const mapping::Network& network);

}  // namespace systole::schedule
