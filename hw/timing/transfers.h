#pragma once

#include <cstdint>
#include <span>

#include "base/cycle.h"
#include "hw/isa/instruction.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"

/// The cost of transfers over the host link (docs/timing.md, rule 5), of the host's work (rule 9) and of
/// transfers from weight memory (rules 3 and 4). The cycles are those of a transfer that is alone on its
/// path; transfers on the same path follow each other.
namespace systole::timing {

/// A transfer between host memory and the unified buffer.
struct HostTransferCost {
    std::uint64_t bytes = 0;            ///< over the link, in one direction
    std::uint64_t buffer_accesses = 0;  ///< rows of the unified buffer
    Cycle cycles = 0;                   ///< until the last byte has left; the link's latency comes on top

    bool operator==(const HostTransferCost&) const = default;
};

HostTransferCost host_transfer_cost(const isa::ReadHostMemory& read, const machine::MachineConfig& machine);
HostTransferCost host_transfer_cost(const isa::WriteHostMemory& write, const machine::MachineConfig& machine);

/// A segment of the host (rule 9), counted from the cycle in which its interrupt leaves.
struct HostWorkCost {
    Cycle busy = 0;      ///< until the host has finished, and the next interrupt may leave
    Cycle complete = 0;  ///< until the chip knows that the results are in host memory

    bool operator==(const HostWorkCost&) const = default;
};

/// `work`: the cycles that the host computes.
HostWorkCost host_work_cost(Cycle work, const machine::MachineConfig& machine);

/// Requests of several senders for one memory are answered so many cycles later, or more.
inline constexpr Cycle least_shared_answer = 2;

/// The cost of consecutive fetches of weight tiles that are issued in the same cycle.
struct TileFetchCost {
    std::uint64_t bytes = 0;
    /// From the issue until the last tile is whole in the FIFO, at the memory's bandwidth. The model
    /// "bandwidth" takes exactly this time; a DRAM takes longer because of row changes and refreshes.
    Cycle cycles = 0;

    bool operator==(const TileFetchCost&) const = default;
};

TileFetchCost tile_fetch_cost(std::span<const isa::WeightTile> tiles, const machine::MachineConfig& machine);

/// The cost of a tile that is written into weight memory.
struct TileWriteCost {
    /// Rows of the unified buffer that are read, one a cycle: of each source row those that its bytes touch.
    std::uint64_t buffer_accesses = 0;
    std::uint64_t bytes = 0;  ///< into weight memory: as many as a fetch of the tile moves
    /// From the begin until the last byte is in weight memory, if nothing else uses the memory: the rows are
    /// read, then the tile is written.
    Cycle cycles = 0;

    bool operator==(const TileWriteCost&) const = default;
};

/// `tile`: the one that the instruction writes. The machine's weight memory is writable.
TileWriteCost tile_write_cost(const isa::WriteWeights& write, const isa::WeightTile& tile,
                              const machine::MachineConfig& machine);

/// The whole cycles in which a path moves this many bytes without a pause and without latency. A path that
/// moves them takes at least this time.
Cycle host_read_cycles(std::uint64_t bytes, const machine::MachineConfig& machine);
Cycle host_write_cycles(std::uint64_t bytes, const machine::MachineConfig& machine);
/// What goes over the link to the host.
struct LinkWork {
    std::uint64_t data_in = 0;       ///< bytes
    std::uint64_t instructions = 0;  ///< bytes
    std::uint64_t out = 0;           ///< bytes
    std::uint64_t calls = 0;         ///< that the host begins
};
/// Both directions at once. While the host begins a call, no data come from it, but instructions may.
Cycle host_link_cycles(const LinkWork& work, const machine::MachineConfig& machine);
Cycle weight_read_cycles(std::uint64_t bytes, const machine::MachineConfig& machine);
/// 0 bytes take no time on any machine; others need a weight memory that is writable.
Cycle weight_write_cycles(std::uint64_t bytes, const machine::MachineConfig& machine);

/// The whole core cycles of `clocks` memory clocks, counted in all channels of the machine's DRAM together:
/// the mean of its channels.
Cycle dram_cycles(std::uint64_t clocks, const machine::MachineConfig& machine);

}  // namespace systole::timing
