// What the unit says of itself.
#include "hw/machine/event_energies.h"
#include "hw/weight_fifo/weight_fifo.h"

namespace systole::hw {

void WeightFifo::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    if (!machine.energy) return;
    const machine::EventEnergies each = machine::event_energies(machine);
    unit.energy = {{"weight_memory", "weight_fifo.bytes", each.weight_byte, "weight_fetch"},
                   {"weight_fifo", "weight_fifo.bytes", each.fifo_byte, "weight_fetch"},
                   {"weight_fifo", "weight_fifo.spilled_bytes", each.fifo_byte, "weight_fetch"},
                   {"weight_fifo", "weight_fifo.shifted_bytes", each.fifo_byte, "weight_shift"}};
}

}  // namespace systole::hw
