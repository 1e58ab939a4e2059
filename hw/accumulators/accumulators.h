#pragma once

#include <cstdint>
#include <systemc>
#include <utility>
#include <vector>

#include "base/zeroed_memory.h"
#include "hw/common/counter.h"
#include "hw/common/memory_interfaces.h"
#include "hw/common/unit_module.h"
#include "hw/machine/machine_config.h"

namespace systole::hw {

struct AccumulatorCounters final : CounterGroup {
    Counter& reads = add("reads", CounterUnit::Rows, "rows read by the activation unit");
    Counter& writes = add("writes", CounterUnit::Rows, "rows written or added to by the matrix unit");
    Counter& pass_writes =
        add("pass_writes", CounterUnit::Rows, "row accesses for them, one for each pass of the array");
    Counter& additions =
        add("additions", CounterUnit::Rows, "of these, those that read the row first and add to it");
};

/// The accumulators: rows with one sum for each array column, held as 32 bits. Who writes a sum wraps it
/// around at `accumulators.sum_bits`.
class Accumulators final : public UnitModule, public AccumulatorAccess {
public:
    Accumulators(const sc_core::sc_module_name& name, const machine::MachineConfig& machine);

    std::size_t columns() const override { return columns_; }
    const std::int32_t* read(std::uint64_t first, std::uint64_t count) const override;
    std::int32_t* write(std::uint64_t first, std::uint64_t count) override;
    void count_reads(std::uint64_t rows, Tag tag) override { counters_.reads.add(rows, tag); }
    void count_writes(std::uint64_t rows, Tag tag) override { counters_.writes.add(rows, tag); }
    void count_passes(std::uint64_t passes, std::uint64_t additions, Tag tag) override {
        counters_.pass_writes.add(passes, tag);
        counters_.additions.add(additions, tag);
    }
    std::pair<std::size_t, std::size_t> banks(std::uint64_t first, std::uint64_t count) const override;

private:
    void describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const override;
    std::vector<MemoryPlaces> memories(const machine::MachineConfig& machine) const override;
    std::span<const std::uint8_t> values(isa::MemoryId memory, std::uint64_t first, std::uint64_t places,
                                         std::size_t tile) const override;
    const std::size_t rows_;
    const std::size_t columns_;
    const std::size_t bank_rows_;
    ZeroedMemory<std::int32_t> sums_;
    AccumulatorCounters counters_;
};

}  // namespace systole::hw
