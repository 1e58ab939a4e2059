#pragma once

#include <cstdint>
#include <vector>

#include "compiler/mapping/network.h"
#include "hw/isa/program.h"

namespace systole::schedule {

/// For each layer, the layer in whose place it is computed; for most, itself. But convolutions that read the
/// same tensor through the same window may go through the matrix unit together, their filters beside each
/// other in the columns of the same weight tiles: the others are joined to the first of them.
///
/// A convolution is joined to the first one, in the order of the layers, with which its filters take fewer
/// column tiles than apart. So pixels are streamed less often. Nor are more accumulator rows activated: with
/// each that is joined, one more border between layers may cut a column tile, and there is at least one
/// column tile less. Layer and tensor ids must be valid.
std::vector<std::uint32_t> group_parallel_convolutions(const mapping::Network& network,
                                                       const isa::Geometry& geometry);

}  // namespace systole::schedule
