#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <systemc>
#include <utility>
#include <vector>

#include "base/zeroed_memory.h"
#include "hw/common/counter.h"
#include "hw/common/memory_interfaces.h"
#include "hw/common/tensor_interfaces.h"
#include "hw/common/unit_module.h"
#include "hw/machine/machine_config.h"

namespace systole::hw {

struct VectorMemoryCounters final : CounterGroup {
    Counter& read_bytes = add("read_bytes", CounterUnit::Bytes, "read by all units");
    Counter& written_bytes = add("written_bytes", CounterUnit::Bytes, "written by all units");
};

/// The on-chip memory of a tensor core: rows with a word for each lane. Every unit has a port of its own, so
/// that no access waits for another.
class VectorMemory final : public UnitModule, public WordMemoryAccess {
public:
    VectorMemory(const sc_core::sc_module_name& name, const machine::MachineConfig& machine);

    std::uint32_t* from_row(std::uint64_t row) override { return words_.data() + row * lanes_; }
    void count_reads(std::uint64_t bytes, Tag tag) override { counters_.read_bytes.add(bytes, tag); }
    void count_writes(std::uint64_t bytes, Tag tag) override { counters_.written_bytes.add(bytes, tag); }
    void touch(const isa::Footprint& footprint) override {
        used_rows_ = std::max(used_rows_, end_of_words(footprint, isa::MemoryId::VectorMemory));
    }

    /// The memory as the array sees it, which writes its sums there.
    AccumulatorAccess& sums() { return sums_; }
    std::span<const std::uint32_t> words() const { return words_.all(); }

private:
    /// Rows of sums: float32 as words.
    class Sums final : public AccumulatorAccess {
    public:
        explicit Sums(VectorMemory& memory) : memory_(memory) {}

        std::size_t columns() const override { return memory_.lanes_; }
        const std::int32_t* read(std::uint64_t first, std::uint64_t count) const override;
        std::int32_t* write(std::uint64_t first, std::uint64_t count) override;
        void count_reads(std::uint64_t rows, Tag tag) override;
        /// `count_passes` has counted them.
        void count_writes(std::uint64_t /*rows*/, Tag /*tag*/) override {}
        void count_passes(std::uint64_t passes, std::uint64_t additions, Tag tag) override;
        std::pair<std::size_t, std::size_t> banks(std::uint64_t, std::uint64_t) const override {
            return {0, 0};
        }

    private:
        VectorMemory& memory_;
    };

    void describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const override;
    std::vector<MemoryPlaces> memories(const machine::MachineConfig& machine) const override;
    std::span<const std::uint8_t> values(isa::MemoryId memory, std::uint64_t first, std::uint64_t places,
                                         std::size_t tile) const override;

    const std::size_t lanes_;
    const std::size_t rows_;
    ZeroedMemory<std::uint32_t> words_;
    std::uint64_t used_rows_ = 0;  ///< from row 0 on
    VectorMemoryCounters counters_;
    Sums sums_{*this};
};

}  // namespace systole::hw
