#pragma once

#include <cstdint>
#include <systemc>
#include <vector>

#include "base/cycle.h"
#include "hw/common/command_queue.h"
#include "hw/common/counter.h"
#include "hw/common/host_link.h"
#include "hw/common/memory_interfaces.h"
#include "hw/common/queued_unit.h"
#include "hw/common/tensor_interfaces.h"
#include "hw/common/unit_context.h"
#include "hw/common/unit_counters.h"
#include "hw/common/unit_module.h"
#include "hw/isa/panels.h"

namespace systole::hw {

struct InfeedCounters final : CounterGroup {
    Counter& read_bytes = add("read_bytes", CounterUnit::Bytes, "elements from host memory");
    Counter& write_bytes = add("write_bytes", CounterUnit::Bytes, "elements to host memory");
    Counter& instruction_bytes = add("instruction_bytes", CounterUnit::Bytes, "instructions received");
    Counter& interrupts = add("interrupts", CounterUnit::Instructions, "interrupts sent to the host");
};

struct InfeedQueueCounters final : UnitCounters {
    /// `is_shared`: several cores of the chip have the link.
    explicit InfeedQueueCounters(bool is_shared) {
        if (!is_shared) return;
        link_stall_cycles =
            &add("link_stall_cycles", CounterUnit::Cycles, "another core's data were on the link");
    }

    Counter* link_stall_cycles = nullptr;
};

/// The link between the high-bandwidth memory of a tensor core and the host: matrices in and out, and
/// instructions in.
///
/// Timing: each direction moves the bytes of the elements at its exact rate; they arrive `latency` cycles
/// after they are sent. Transfers of one direction follow each other; instructions have priority.
class InfeedLink final : public UnitModule, public InstructionPath {
public:
    InfeedLink(const sc_core::sc_module_name& name, const UnitContext& context, HostLink& link,
               HostMemoryAccess& host_memory, WordMemoryAccess& hbm);

    CommandQueue& read_queue() { return reads_.queue(); }
    CommandQueue& write_queue() { return writes_.queue(); }

    void send_instruction(std::uint64_t bytes, Tag tag) override;
    Cycle next_arrival() override { return link_.next_urgent_end(context_.core) + latency_; }

    void finish(Cycle end, Tag tag) override {
        reads_.counters().finish(end, tag);
        writes_.counters().finish(end, tag);
    }

private:
    /// A matrix in host memory, row by row, and in panels.
    struct Matrix {
        std::uint8_t* host = nullptr;
        isa::Panels panels = {};
        std::uint64_t rows = 0;
        std::uint64_t columns = 0;
    };

    void describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const override;
    std::vector<UnitBound> bounds(const machine::MachineConfig& machine) const override;
    void read(const Command& command);
    void write(const Command& command);
    /// Throws InstructionError if the host has no such memory. Null in a run without values.
    std::uint8_t* host_words(const Command& command, const isa::RowRange& bytes);
    void copy_in(const Matrix& matrix) const;
    void copy_out(const Matrix& matrix) const;

    const UnitContext context_;
    const isa::TensorShape shape_;
    const Cycle latency_;
    HostLink& link_;
    HostMemoryAccess& host_memory_;
    WordMemoryAccess& hbm_;
    QueueLoop<InfeedQueueCounters> reads_;
    QueueLoop<InfeedQueueCounters> writes_;
    InfeedCounters counters_;
};

}  // namespace systole::hw
