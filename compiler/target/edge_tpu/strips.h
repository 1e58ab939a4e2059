#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/target/edge_tpu/network.h"
#include "hw/machine/machine_config.h"

namespace systole::edge_tpu {

/// Narrow memory is too small for a layer.
struct NarrowShortage {
    std::uint32_t step = 0;  ///< that has no room for its result, or the one behind the last
    std::string message;
};

/// Gives every tensor an address. Where tensors do not fit narrow memory together, steps that follow each
/// other are repeated for one strip of lines of their last result after the other: what lies between these
/// steps is there for one strip at a time, with all pixels around it that the windows behind reach, which
/// each tile computes by itself. Of all runs of steps that help, and the fewest strips, the one with the
/// least work. None if all is there; else the layer for which the narrow memory is too small even so.
std::optional<NarrowShortage> fit_into_narrow_memory(Network& network, const machine::MachineConfig& machine);

}  // namespace systole::edge_tpu
