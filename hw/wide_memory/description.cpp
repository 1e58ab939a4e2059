// What the unit says of itself.
#include <fmt/format.h>

#include "hw/wide_memory/wide_memory.h"

namespace systole::hw {

void WideMemory::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    const double bytes = static_cast<double>(machine.wide_memory.bytes) * machine.tile_array.tiles();
    unit.box = {
        .title = "Wide memory",
        .column = 0,
        .row = 0,
        .lines = {{"{} a tile, for parameters", {{static_cast<double>(machine.wide_memory.bytes), "bytes"}}},
                  {"{} in all tiles", {{bytes, "bytes"}}}}};
}

}  // namespace systole::hw
