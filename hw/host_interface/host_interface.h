#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "hw/common/command_queue.h"
#include "hw/common/counter.h"
#include "hw/common/host_link.h"
#include "hw/common/memory_interfaces.h"
#include "hw/common/queued_unit.h"
#include "hw/common/trace.h"
#include "hw/common/unit_context.h"
#include "hw/common/unit_counters.h"
#include "hw/common/unit_module.h"
#include "hw/common/unit_waves.h"
#include "hw/common/weight_link.h"
#include "hw/isa/footprint.h"

namespace systole::hw {

struct HostInterfaceCounters final : CounterGroup {
    Counter& read_bytes =
        add("read_bytes", CounterUnit::Bytes, "data from host memory into the unified buffer");
    Counter& write_bytes =
        add("write_bytes", CounterUnit::Bytes, "data from the unified buffer to host memory");
    Counter& buffer_writes =
        add("buffer_writes", CounterUnit::Rows, "accesses of the unified buffer, to write data read");
    Counter& buffer_reads =
        add("buffer_reads", CounterUnit::Rows, "accesses of the unified buffer, to read data written");
    Counter& weight_bytes = add("weight_bytes", CounterUnit::Bytes, "spilled weights from host memory");
    Counter& instruction_bytes = add("instruction_bytes", CounterUnit::Bytes, "instructions received");
    Counter& interrupts = add("interrupts", CounterUnit::Instructions, "interrupts sent to the host");
};

/// The cycles of one direction, by what they were spent on.
struct HostTransferCounters : UnitCounters {
    Counter& port_stall_cycles = add("port_stall_cycles", CounterUnit::Cycles, "a memory port was taken");
};

struct HostReadCounters final : HostTransferCounters {
    Counter& link_stall_cycles = add("link_stall_cycles", CounterUnit::Cycles,
                                     "spilled weights, or another core's data, were on the link");
};

struct HostWriteCounters final : HostTransferCounters {
    /// `shares_link`: with other cores; reports of machines with one core have no counter for it.
    explicit HostWriteCounters(bool shares_link) {
        if (!shares_link) return;
        link_stall_cycles =
            &add("link_stall_cycles", CounterUnit::Cycles, "another core's data were on the link");
    }
    Counter* link_stall_cycles = nullptr;
};

/// A core's end of the link to the host. It carries data into and out of the unified buffer, and instructions
/// in.
///
/// Timing: each direction moves bytes at its exact bandwidth; bytes arrive `latency` cycles after they are
/// sent. Transfers of one direction follow each other; instructions have priority. A transfer into the
/// unified buffer goes before a spilled weight tile that waits as well.
class HostInterface final : public UnitModule, public InstructionPath, public WeightLink {
public:
    HostInterface(const sc_core::sc_module_name& name, const UnitContext& context, HostLink& link,
                  UnifiedBufferAccess& buffer);

    CommandQueue& read_queue() { return reads_.queue(); }
    CommandQueue& write_queue() { return writes_.queue(); }

    void send_instruction(std::uint64_t bytes, Tag tag) override;
    Cycle next_arrival() override { return link_.next_urgent_end(context_.core) + latency_; }
    Cycle receive_weights(std::uint64_t bytes, Tag tag) override;

    void finish(Cycle end, Tag tag) override {
        reads_.counters().finish(end, tag);
        writes_.counters().finish(end, tag);
    }

    tlm_utils::simple_initiator_socket<HostInterface> memory{"memory"};

private:
    void describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const override;
    std::vector<UnitBound> bounds(const machine::MachineConfig& machine) const override;
    std::unique_ptr<TraceListener> waves(WaveMaker& maker) const override;
    void execute_read(const Command& command);
    void execute_write(const Command& command);
    /// The blocks of a transfer, in host memory and in the unified buffer.
    struct Blocks {
        std::uint64_t host_address = 0;
        std::uint64_t host_stride = 0;  ///< bytes from one block to the next
        std::uint64_t block_bytes = 0;
        std::uint64_t blocks = 0;
        std::uint8_t* rows = nullptr;
        std::uint64_t stride = 0;  ///< bytes from a block's first row to the next block's
    };

    /// The blocks of a transfer whose first block lies at `rows`.
    Blocks blocks_of(std::uint64_t host_address, std::uint64_t block_bytes, std::uint64_t blocks,
                     const isa::Registers& registers, std::uint8_t* rows) const;
    /// Moves blocks between host memory and the unified buffer. Throws InstructionError if the host has no
    /// such memory.
    template <class Counters>
    void move(QueueLoop<Counters>& loop, tlm::tlm_command direction, InstructionNumber number,
              const Blocks& blocks);
    /// A pointer to the host's bytes; null if the memory gives no direct access to all of them.
    std::uint8_t* direct_bytes(tlm::tlm_command direction, std::uint64_t address, std::uint64_t bytes);
    /// The payload of a direction, prepared for a new transaction.
    tlm::tlm_generic_payload& new_payload(tlm::tlm_command direction, std::uint64_t address);

    const UnitContext context_;
    const Cycle latency_;
    HostLink& link_;
    UnifiedBufferAccess& buffer_;
    tlm::tlm_generic_payload read_payload_, write_payload_;  ///< reused for all transactions
    QueueLoop<HostReadCounters> reads_;
    QueueLoop<HostWriteCounters> writes_;
    HostInterfaceCounters counters_;
};

}  // namespace systole::hw
