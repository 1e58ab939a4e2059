#pragma once

#include <cstdint>
#include <span>

#include "hw/base/cycle.h"
#include "hw/isa/instruction.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"

/// What transfers cost: over the host link (docs/timing.md, rule 5) and from weight memory (rules 3 and 4).
/// The cycles are those of a transfer alone on its path; what shares a path follows one behind the other.
namespace systole::timing {

/// A transfer between host memory and the unified buffer.
struct HostTransferCost {
    std::uint64_t bytes = 0;            ///< over the link, in one direction
    std::uint64_t buffer_accesses = 0;  ///< rows of the unified buffer
    Cycle cycles = 0;                   ///< until the last byte has gone; the link's latency follows

    bool operator==(const HostTransferCost&) const = default;
};

HostTransferCost host_transfer_cost(const isa::ReadHostMemory& read, const machine::MachineConfig& machine);
HostTransferCost host_transfer_cost(const isa::WriteHostMemory& write, const machine::MachineConfig& machine);

/// The fetches of weight tiles that are issued in one cycle, one behind the other.
struct TileFetchCost {
    std::uint64_t bytes = 0;
    /// From the issue until the last tile is whole in the FIFO, at the memory's bandwidth. The model
    /// "bandwidth" takes exactly these; a DRAM takes more, for its rows and its refreshes.
    Cycle cycles = 0;

    bool operator==(const TileFetchCost&) const = default;
};

TileFetchCost tile_fetch_cost(std::span<const isa::WeightTile> tiles, const machine::MachineConfig& machine);

}  // namespace systole::timing
