// What the unit says of itself.
#include <fmt/format.h>

#include "hw/narrow_memory/narrow_memory.h"

namespace systole::hw {

void NarrowMemory::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    unit.box = {.title = "Narrow memory",
                .column = 1,
                .row = 1,
                .lines = {{"{} a tile, for activations",
                           {{static_cast<double>(machine.narrow_memory.bytes), "bytes"}}}},
                .filled = machine::Filled{used_, machine.narrow_memory.bytes},
                .word = "ever used"};
}

}  // namespace systole::hw
