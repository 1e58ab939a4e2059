#pragma once

#include <cstdint>
#include <vector>

#include "compiler/mapping/network.h"
#include "compiler/schedule/target.h"

namespace systole::schedule {

/// For each layer, the layer with which it is computed, which is the layer itself for most. Convolutions that
/// read the same tensor through the same window may be computed together, with their filters side by side in
/// the columns of the same weight tiles; the later ones are then joined to the first.
///
/// A convolution is joined to the first one, in the order of the layers, with which its filters take fewer
/// column tiles than separately. So pixels are streamed less often. The number of activated accumulator rows
/// does not grow: each joined layer adds at most one border inside a column tile and saves at least one
/// column tile. Layer and tensor ids must be valid. Without Mapping::join_convolutions, each layer is
/// computed by itself.
std::vector<std::uint32_t> group_parallel_convolutions(const mapping::Network& network, const Target& target);

}  // namespace systole::schedule
