#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <systemc>
#include <vector>

#include "base/zeroed_memory.h"
#include "hw/common/counter.h"
#include "hw/common/tile_interfaces.h"
#include "hw/common/unit_module.h"
#include "hw/machine/machine_config.h"

namespace systole::hw {

struct NarrowMemoryCounters final : CounterGroup {
    Counter& read_bytes = add("read_bytes", CounterUnit::Bytes, "read, in all tiles");
    Counter& written_bytes = add("written_bytes", CounterUnit::Bytes, "written, in all tiles");
};

/// The tiles' memories of activations: of each tile, so many bytes at the same addresses.
class NarrowMemory final : public UnitModule, public NarrowMemoryAccess {
public:
    NarrowMemory(const sc_core::sc_module_name& name, const machine::MachineConfig& machine)
        : UnitModule(name),
          bytes_of_tile_(machine.narrow_memory.bytes),
          bytes_(std::size_t{bytes_of_tile_} * machine.tile_array.tiles()) {
        register_counters(counters_);
    }

    std::uint8_t* of_tile(std::size_t tile) override { return bytes_.data() + tile * bytes_of_tile_; }
    void count_reads(std::uint64_t bytes, Tag tag) override { counters_.read_bytes.add(bytes, tag); }
    void count_writes(std::uint64_t bytes, Tag tag) override { counters_.written_bytes.add(bytes, tag); }
    void touch(const isa::Footprint& footprint) override {
        used_ = std::max(used_, end_of_rows(footprint, isa::MemoryId::NarrowMemory));
    }

    std::span<const std::uint8_t> bytes(std::size_t tile) const {
        return bytes_.all().subspan(tile * bytes_of_tile_, bytes_of_tile_);
    }

private:
    void describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const override;
    std::vector<MemoryPlaces> memories(const machine::MachineConfig& machine) const override;
    std::span<const std::uint8_t> values(isa::MemoryId memory, std::uint64_t first, std::uint64_t places,
                                         std::size_t tile) const override;

    const std::size_t bytes_of_tile_;
    ZeroedMemory<std::uint8_t> bytes_;
    std::uint64_t used_ = 0;  ///< bytes from address 0 on
    NarrowMemoryCounters counters_;
};

}  // namespace systole::hw
