#pragma once

#include <cstdint>
#include <optional>

#include "compiler/target/edge_tpu/network.h"
#include "hw/machine/machine_config.h"

namespace systole::edge_tpu {

/// Bytes of a tensor in each tile's narrow memory.
std::uint64_t narrow_bytes(const Network& network, TensorId id);

/// Gives tensors that element-wise steps could replace in their place the margins of the result, from the
/// last step backwards, where that costs no exchange.
void widen_what_can_be_replaced(Network& network);

/// Narrow memory is too small for the tensors that are there in a step.
struct Shortage {
    std::uint32_t step = 0;
    std::uint64_t bytes = 0;  ///< that it would need
};
/// Gives every tensor an address at which it meets no other one that is there at the same time, but perhaps
/// an operand that it replaces element by element, up to the first step for which narrow memory is too small.
/// The tensors that begin first are placed first.
std::optional<Shortage> place_tensors(Network& network, const machine::MachineConfig& machine);

/// The same; where that does not fit, the largest are placed first, as short lives leave gaps between long
/// ones otherwise.
std::optional<Shortage> place_tensors_by_size(Network& network, const machine::MachineConfig& machine);

}  // namespace systole::edge_tpu
