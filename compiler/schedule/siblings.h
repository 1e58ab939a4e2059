#pragma once

#include <cstdint>
#include <vector>

#include "compiler/graph/quantized_network.h"
#include "hw/isa/program.h"

namespace systole::schedule {

/// For each layer, its leader: the layer in whose place it is computed. Most layers lead themselves. But
/// convolutions that read the same tensor through the same window, siblings, may go through the matrix unit
/// together, their filters beside each other in the columns of the same weight tiles; the first of them
/// leads.
///
/// A sibling is joined to the first leader, in the order of the layers, with which its filters take fewer
/// column tiles than apart. So pixels are streamed less often. Nor are more accumulator rows activated: with
/// each that is joined, one more border between layers may cut a column tile, and there is at least one
/// column tile less. Layer and tensor ids must be valid.
std::vector<std::uint32_t> find_leaders(const quantized::Network& network, const isa::Geometry& geometry);

}  // namespace systole::schedule
