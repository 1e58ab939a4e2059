#pragma once

#include <cstdint>
#include <optional>
#include <systemc>
#include <vector>

#include "hw/common/command_queue.h"
#include "hw/common/counter.h"
#include "hw/common/host_link.h"
#include "hw/common/memory_interfaces.h"
#include "hw/common/queued_unit.h"
#include "hw/common/ring_queue.h"
#include "hw/common/tile_interfaces.h"
#include "hw/common/unit_context.h"
#include "hw/common/unit_counters.h"
#include "hw/common/unit_module.h"
#include "hw/isa/instruction.h"
#include "hw/isa/tile_grid.h"

namespace systole::hw {

struct TileLinkCounters final : CounterGroup {
    Counter& read_bytes = add("read_bytes", CounterUnit::Bytes, "elements from host memory");
    Counter& write_bytes = add("write_bytes", CounterUnit::Bytes, "elements to host memory");
    Counter& parameter_bytes =
        add("parameter_bytes", CounterUnit::Bytes, "parameters from host memory into wide memory");
    Counter& streamed_bytes =
        add("streamed_bytes", CounterUnit::Bytes, "parameters from host memory into the staging buffer");
    Counter& program_bytes =
        add("program_bytes", CounterUnit::Bytes, "a compiled network's instructions, by read_program");
    Counter& calls = add("calls", CounterUnit::Instructions, "calls of the host, each with its program");
    Counter& instruction_bytes = add("instruction_bytes", CounterUnit::Bytes, "instructions received");
    Counter& interrupts = add("interrupts", CounterUnit::Instructions, "interrupts sent to the host");
};

struct TileReadCounters final : UnitCounters {
    Counter& staging_full_cycles =
        add("staging_full_cycles", CounterUnit::Cycles, "the staging buffer had no room");
};

struct TileWriteCounters final : UnitCounters {};

/// The link between the tiles and the host. It carries programs, parameters and elements in, and elements
/// out.
///
/// Timing: each direction moves bytes at its exact rate; bytes arrive `latency` cycles after they are sent. A
/// program, which begins a call, first takes the host's part of the call. Transfers of one direction follow
/// each other; instructions have priority. Streamed parameters go as long as the staging buffer has room for
/// the next part.
class TileLink final : public UnitModule, public InstructionPath, public StagedParts {
public:
    TileLink(const sc_core::sc_module_name& name, const UnitContext& context, HostLink& link,
             HostMemoryAccess& host_memory, const TileMemories& memories);

    CommandQueue& read_queue() { return reads_.queue(); }
    CommandQueue& write_queue() { return writes_.queue(); }

    void send_instruction(std::uint64_t bytes, Tag tag) override;
    Cycle next_arrival() override { return link_.next_urgent_end(context_.core) + latency_; }
    const WeightPart& next() override;
    void release() override;

    void finish(Cycle end, Tag tag) override {
        reads_.counters().finish(end, tag);
        writes_.counters().finish(end, tag);
    }

private:
    void describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const override;
    std::vector<UnitBound> bounds(const machine::MachineConfig& machine) const override;
    std::optional<AwaitedWork> awaited(isa::QueueId queue) const override;
    void execute_read(const Command& command);
    void execute_write(const Command& command);
    void read_parameters(const isa::ReadParameters& read, const Command& command);
    void read_tensor(const isa::ReadTensor& read, const Command& command);
    void stream(const isa::StreamParameters& stream, const Command& command);
    void send_part(WeightPart part, std::uint64_t address, Tag tag);
    void write_tensor(const isa::WriteTensor& write, const Command& command);
    /// Throws InstructionError if the host has no such memory. Null in a run without values.
    std::uint8_t* host_bytes(const Command& command, std::uint64_t address, std::uint64_t bytes);
    /// The bytes over the link in one direction.
    void receive(std::uint64_t bytes);

    const UnitContext context_;
    const isa::TileGrid grid_;
    const Cycle latency_;
    const Cycle call_cycles_;
    const std::uint64_t staging_bytes_;
    const bool moves_words_;  ///< parts carry their values
    HostLink& link_;
    HostMemoryAccess& host_memory_;
    NarrowMemoryAccess& narrow_;
    WideMemoryAccess& wide_;
    QueueLoop<TileReadCounters> reads_;
    QueueLoop<TileWriteCounters> writes_;
    TileLinkCounters counters_;
    RingQueue<WeightPart> staged_;    ///< sent by the host, not taken by the ring
    std::uint64_t staged_bytes_ = 0;  ///< of these
    sc_core::sc_event arrived_;
    sc_core::sc_event released_;
};

}  // namespace systole::hw
