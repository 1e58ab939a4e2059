#pragma once

#include <cstdint>
#include <optional>

#include "compiler/target/edge_tpu/network.h"
#include "hw/machine/machine_config.h"

namespace systole::edge_tpu {

/// Bytes of a tensor in each tile's narrow memory.
std::uint64_t narrow_bytes(const Network& network, TensorId id);

/// Narrow memory is too small for the tensors that are there in a step.
struct Shortage {
    std::uint32_t step = 0;
    std::uint64_t bytes = 0;  ///< that it would need
};
/// Gives every tensor an address at which it meets no other one that is there at the same time, up to the
/// first step for which narrow memory is too small.
std::optional<Shortage> place_tensors(Network& network, const machine::MachineConfig& machine);

}  // namespace systole::edge_tpu
