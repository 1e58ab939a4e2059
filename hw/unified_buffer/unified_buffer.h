#pragma once

#include <cstdint>
#include <systemc>
#include <vector>

#include "base/zeroed_memory.h"
#include "hw/common/counter.h"
#include "hw/common/memory_interfaces.h"
#include "hw/common/unit_module.h"
#include "hw/machine/machine_config.h"

namespace systole::hw {

struct UnifiedBufferCounters final : CounterGroup {
    Counter& reads = add("reads", CounterUnit::Rows, "accesses of at most one row of bytes, to read");
    Counter& writes = add("writes", CounterUnit::Rows, "accesses of at most one row of bytes, to write");
};

/// The on-chip memory for activations: rows with one byte for each array row.
///
/// An access moves up to a row's length of consecutive bytes in one cycle, at any alignment (even and odd
/// rows lie in separate memories).
class UnifiedBuffer final : public UnitModule, public UnifiedBufferAccess {
public:
    UnifiedBuffer(const sc_core::sc_module_name& name, const machine::MachineConfig& machine);

    std::size_t row_bytes() const override { return row_bytes_; }
    const std::uint8_t* read(std::uint64_t first, std::uint64_t count) const override;
    std::uint8_t* write(std::uint64_t first, std::uint64_t count) override;
    void count_reads(std::uint64_t accesses, Tag tag) override { counters_.reads.add(accesses, tag); }
    void count_writes(std::uint64_t accesses, Tag tag) override { counters_.writes.add(accesses, tag); }

    /// Bytes of all rows that were written at least once.
    std::uint64_t touched_bytes() const;

private:
    void describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const override;
    std::vector<MemoryPlaces> memories(const machine::MachineConfig& machine) const override;
    std::span<const std::uint8_t> values(isa::MemoryId memory, std::uint64_t first, std::uint64_t places,
                                         std::size_t tile) const override;
    const std::size_t rows_;
    const std::size_t row_bytes_;
    ZeroedMemory<std::uint8_t> bytes_;
    std::vector<bool> touched_;  ///< by row
    UnifiedBufferCounters counters_;
};

}  // namespace systole::hw
