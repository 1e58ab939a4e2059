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
#include "hw/isa/tile_grid.h"
#include "hw/machine/machine_config.h"

namespace systole::hw {

struct WideMemoryCounters final : CounterGroup {
    Counter& read_bytes = add("read_bytes", CounterUnit::Bytes, "read, in all tiles");
    Counter& written_bytes = add("written_bytes", CounterUnit::Bytes, "written, in all tiles");
};

/// The tiles' memories of parameters, in units that are numbered through all tiles.
class WideMemory final : public UnitModule, public WideMemoryAccess {
public:
    WideMemory(const sc_core::sc_module_name& name, const machine::MachineConfig& machine)
        : UnitModule(name), bytes_(std::size_t{machine.wide_memory.bytes} * machine.tile_array.tiles()) {
        register_counters(counters_);
    }

    std::uint8_t* from_unit(std::uint64_t unit) override {
        return bytes_.data() + unit * isa::tile_unit_bytes;
    }
    void count_reads(std::uint64_t bytes, Tag tag) override { counters_.read_bytes.add(bytes, tag); }
    void count_writes(std::uint64_t bytes, Tag tag) override { counters_.written_bytes.add(bytes, tag); }

    void touch(const isa::Footprint& footprint) override {
        used_units_ = std::max(used_units_, end_of_rows(footprint, isa::MemoryId::WideMemory));
    }

    std::span<const std::uint8_t> bytes() const { return bytes_.all(); }

private:
    void describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const override;
    std::vector<MemoryPlaces> memories(const machine::MachineConfig& machine) const override;

    ZeroedMemory<std::uint8_t> bytes_;
    std::uint64_t used_units_ = 0;  ///< from unit 0 on
    WideMemoryCounters counters_;
};

}  // namespace systole::hw
