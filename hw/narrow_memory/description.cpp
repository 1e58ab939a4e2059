// What the unit says of itself.
#include <fmt/format.h>

#include "hw/narrow_memory/narrow_memory.h"

namespace systole::hw {

void NarrowMemory::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    unit.box = {.title = "Narrow memory",
                .column = 3,
                .row = 2,
                .lines = {{"{} a tile", {{static_cast<double>(machine.narrow_memory.bytes), "bytes"}}}},
                .filled = machine::Filled{used_, machine.narrow_memory.bytes, "peak"},
                .word = "ever used"};
}

}  // namespace systole::hw
