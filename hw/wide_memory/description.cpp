// What the unit says of itself.
#include <fmt/format.h>

#include "hw/isa/memory.h"
#include "hw/wide_memory/wide_memory.h"

namespace systole::hw {

void WideMemory::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    const double bytes = static_cast<double>(machine.wide_memory.bytes) * machine.tile_array.tiles();
    unit.box = {
        .title = "Wide memory",
        .column = 2,
        .row = 0,
        .lines = {{"{} a tile", {{static_cast<double>(machine.wide_memory.bytes), "bytes"}}},
                  {"{} in all tiles", {{bytes, "bytes"}}}},
        .filled =
            machine::Filled{used_units_ * isa::tile_unit_bytes,
                            std::uint64_t{machine.wide_memory.bytes} * machine.tile_array.tiles(), "used"},
        .word = "filled"};
}

std::vector<MemoryPlaces> WideMemory::memories(const machine::MachineConfig& machine) const {
    return {{isa::MemoryId::WideMemory,
             std::uint64_t{machine.wide_memory.bytes} / isa::tile_unit_bytes * machine.tile_array.tiles()}};
}

}  // namespace systole::hw
