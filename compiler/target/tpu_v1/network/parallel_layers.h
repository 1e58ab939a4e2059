#pragma once

#include <cstdint>
#include <vector>

#include "compiler/target/tpu_v1/network/network.h"
#include "compiler/target/tpu_v1/target.h"

namespace systole::tpu_v1 {

/// Layers with one weight matrix each that read the same rows: dense layers of the same inputs, or
/// convolutions of the same tensor through the same window. Any of them may be computed together, with their
/// columns side by side in the same weight tiles; the later ones are then joined to the first.
///
/// Returns the sets of two or more such layers, each in the order of the layers. Layer and tensor ids must be
/// valid.
std::vector<std::vector<std::uint32_t>> sibling_layers(const Network& network, const Target& target);

/// Whether two layers with so many filters take fewer column tiles together than separately.
bool saves_column_tiles(std::uint64_t filters, std::uint64_t more, const isa::Geometry& geometry);

/// For each layer, the layer with which it is computed, which is the layer itself for most: as Choices::joins
/// says, or by the rule of Mapping::join_convolutions. By that rule, a convolution of single pixels is joined
/// to the first one with which its filters take fewer column tiles than separately, so that pixels are
/// streamed less often. The number of activated accumulator rows does not grow: each joined layer adds at
/// most one border inside a column tile and saves at least one column tile. Layer and tensor ids must be
/// valid.
std::vector<std::uint32_t> group_parallel_layers(const Network& network, const Target& target);

}  // namespace systole::tpu_v1
