#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <systemc>
#include <tlm>
#include <vector>

#include "base/cycle.h"
#include "hw/common/command_queue.h"
#include "hw/common/counter.h"
#include "hw/common/queued_unit.h"
#include "hw/common/tensor_interfaces.h"
#include "hw/common/unit_context.h"
#include "hw/common/unit_counters.h"
#include "hw/common/unit_module.h"
#include "hw/isa/panels.h"

namespace systole::hw {

struct DmaCounters final : CounterGroup {
    Counter& in_bytes = add("in_bytes", CounterUnit::Bytes, "from high-bandwidth memory to vector memory");
    Counter& out_bytes = add("out_bytes", CounterUnit::Bytes, "from vector memory to high-bandwidth memory");
};

struct DmaQueueCounters final : UnitCounters {
    Counter& hbm_cycles = add("hbm_cycles", CounterUnit::Cycles,
                              "high-bandwidth memory served the other direction, or the request before it");
};

/// Copies rows between high-bandwidth memory and vector memory, in each direction one transfer at a time.
///
/// Timing: a request takes a cycle to reach high-bandwidth memory, which serves one transfer after the other,
/// by cycle of the request and, of one cycle, by core and `dma_in` first. The transfer is complete
/// `MachineConfig::hbm_latency` cycles after its last byte. `gather_rows` is two transfers, of the row of
/// indices and, when this is complete, of the rows that they name.
class Dma final : public UnitModule, private HbmSender {
public:
    Dma(const sc_core::sc_module_name& name, const UnitContext& context, HbmAccess& hbm,
        WordMemoryAccess& vector_memory);

    CommandQueue& in_queue() { return in_.queue(); }
    CommandQueue& out_queue() { return out_.queue(); }

    void finish(Cycle end, Tag tag) override {
        in_.counters().finish(end, tag);
        out_.counters().finish(end, tag);
    }

    tlm_utils::simple_initiator_socket<Dma> memory{"memory"};

private:
    using Queue = QueueLoop<DmaQueueCounters>;
    /// In the order in which requests of one cycle are served.
    enum class Direction : std::size_t { In, Out };

    /// The rows of an instruction.
    struct Transfer {
        Direction direction = Direction::In;
        std::uint64_t hbm_row = 0;  ///< of the whole memory
        std::uint64_t row = 0;
        isa::RowBlocks blocks = {};
        std::uint64_t hbm_stride = 0;
        std::uint64_t memory_stride = 0;
        Tag tag = 0;
    };

    void describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const override;
    std::vector<MemoryPlaces> memories(const machine::MachineConfig& machine) const override;
    std::span<const std::uint8_t> values(isa::MemoryId asked, std::uint64_t first, std::uint64_t places,
                                         std::size_t tile) const override;
    std::vector<UnitBound> bounds(const machine::MachineConfig& machine) const override;
    void execute(Queue& queue, const Command& command);
    void copy_blocks(Queue& queue, const Command& command);
    void gather(const isa::GatherRows& gather, const Command& command);
    /// The rows of the table that the indices name. Waits until the indices are there.
    std::vector<std::uint64_t> gathered_rows(const isa::GatherRows& gather, const Command& command);
    /// Asks for a transfer, and waits for its last byte.
    void transfer(Queue& queue, const Transfer& transfer);
    Cycle serve_transfer(std::size_t direction) override;
    void move(const Transfer& transfer, std::uint64_t row, std::uint64_t rows, sc_core::sc_time& delay);
    void copy(const Transfer& transfer, std::uint32_t* hbm) const;
    /// The words of high-bandwidth memory, from row 0 on.
    std::uint32_t* hbm_words();

    const UnitContext context_;
    const std::uint64_t lanes_;
    const std::uint64_t row_bytes_;
    const Cycle latency_;
    HbmAccess& hbm_;
    WordMemoryAccess& vector_memory_;
    Queue in_;
    Queue out_;
    // By direction.
    std::array<Transfer, HbmRequests::directions> asked_{};
    std::array<Cycle, HbmRequests::directions> started_{};  ///< the cycle in which the transfer began
    std::uint32_t* hbm_words_ = nullptr;
    DmaCounters counters_;
};

}  // namespace systole::hw
