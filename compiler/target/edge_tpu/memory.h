#pragma once

#include <cstdint>

#include "compiler/target/edge_tpu/network.h"
#include "hw/isa/tile_grid.h"
#include "hw/machine/machine_config.h"

namespace systole::edge_tpu {

/// Bytes of a tensor in each tile's narrow memory.
std::uint64_t narrow_bytes(const Tensor& tensor, const isa::TileGrid& grid);

/// Gives every tensor an address at which it meets no other one that is there at the same time. Throws
/// ModelError with the layer for which the narrow memory is too small.
void place_tensors(Network& network, const machine::MachineConfig& machine);

}  // namespace systole::edge_tpu
