#include "hw/timing/transfers.h"

#include <algorithm>

#include "base/arithmetic.h"
#include "base/cycle.h"

namespace systole::timing {

namespace {

Cycle cycles_of(std::uint64_t bytes, const Rate& rate, Cycle latency = 0) {
    return rate.after({.whole = latency, .parts = 0}, bytes).whole;
}

HostTransferCost blocks_cost(std::uint64_t block_bytes, std::uint64_t blocks, const Rate& link,
                             const machine::MachineConfig& machine) {
    const std::uint64_t bytes = block_bytes * blocks;
    return {.bytes = bytes,
            .buffer_accesses = divide_up(block_bytes, machine.matrix_unit.rows) * blocks,
            .cycles = cycles_of(bytes, link)};
}

}  // namespace

HostTransferCost host_transfer_cost(const isa::ReadHostMemory& read, const machine::MachineConfig& machine) {
    return blocks_cost(read.block_bytes, read.blocks, machine.host_read_rate(), machine);
}

HostTransferCost host_transfer_cost(const isa::WriteHostMemory& write,
                                    const machine::MachineConfig& machine) {
    return blocks_cost(write.block_bytes, write.blocks, machine.host_write_rate(), machine);
}

HostWorkCost host_work_cost(Cycle work, const machine::MachineConfig& machine) {
    const Cycle latency = machine.host_latency();  // of the interrupt, and of the answer
    return {.busy = latency + work, .complete = latency + work + latency};
}

TileFetchCost tile_fetch_cost(std::span<const isa::WeightTile> tiles, const machine::MachineConfig& machine) {
    TileFetchCost cost;
    for (const isa::WeightTile& tile : tiles) {
        const std::uint64_t rows = machine.weight_memory.whole_tiles ? machine.matrix_unit.rows : tile.rows;
        cost.bytes += rows * machine.matrix_unit.columns * bytes_of(tile.type);
    }
    cost.cycles = cycles_of(cost.bytes, machine.weight_rate(), machine.weight_memory.latency_cycles);
    // Then the FIFO shares the memory with the weight writer.
    if (machine.weight_memory.writable) cost.cycles = std::max(cost.cycles, least_shared_answer);
    return cost;
}

TileWriteCost tile_write_cost(const isa::WriteWeights& write, const isa::WeightTile& tile,
                              const machine::MachineConfig& machine) {
    const std::uint64_t row_bytes = machine.matrix_unit.rows;
    TileWriteCost cost;
    for (std::uint64_t row = 0; row < write.rows; ++row) {
        const std::uint64_t first = write.first_byte + row * write.stride;
        const std::uint64_t last = first + write.source_bytes() - 1;
        cost.buffer_accesses += last / row_bytes - first / row_bytes + 1;
    }
    cost.bytes = tile_fetch_cost({&tile, 1}, machine).bytes;
    const Cycle moves =
        cycles_of(cost.bytes, machine.weight_write_rate(), machine.weight_memory.writable->latency_cycles);
    cost.cycles = cost.buffer_accesses + std::max(moves, least_shared_answer);
    return cost;
}

Cycle host_read_cycles(std::uint64_t bytes, const machine::MachineConfig& machine) {
    return cycles_of(bytes, machine.host_read_rate());
}

Cycle host_write_cycles(std::uint64_t bytes, const machine::MachineConfig& machine) {
    return cycles_of(bytes, machine.host_write_rate());
}

Cycle host_link_cycles(const LinkWork& work, const machine::MachineConfig& machine) {
    const Cycle data = work.calls * machine.host_call_cycles() + host_read_cycles(work.data_in, machine);
    const Cycle in = host_read_cycles(work.data_in + work.instructions, machine);
    return std::max({data, in, host_write_cycles(work.out, machine)});
}

Cycle weight_read_cycles(std::uint64_t bytes, const machine::MachineConfig& machine) {
    return cycles_of(bytes, machine.weight_rate());
}

Cycle weight_write_cycles(std::uint64_t bytes, const machine::MachineConfig& machine) {
    return bytes == 0 ? 0 : cycles_of(bytes, machine.weight_write_rate());
}

Cycle dram_cycles(std::uint64_t clocks, const machine::MachineConfig& machine) {
    const machine::DramConfig& dram = machine.weight_memory.dram;
    const machine::MemoryClock clock = dram.memory_clock(machine.clock_hz());
    return to_64_bits(multiply_divide(clocks, clock.cycles, clock.clocks) / dram.channels,
                      "the reads of the weight memory take more than 64 bits of cycles");
}

}  // namespace systole::timing
