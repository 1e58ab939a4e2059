// What the unit says of itself.
#include "hw/activation_unit/activation_unit.h"
#include "hw/machine/event_energies.h"

namespace systole::hw {

void ActivationUnit::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    if (!machine.energy) return;
    const machine::EventEnergies each = machine::event_energies(machine);
    unit.energy = {{"unified_buffer", "activation_unit.buffer_reads", each.buffer_row, "activation"},
                   {"unified_buffer", "activation_unit.buffer_writes", each.buffer_row, "activation"},
                   {"activation_unit", "activation_unit.elements", each.requantized, "activation"},
                   {"activation_unit", "activation_unit.lookups", each.lookup, "activation"},
                   {"activation_unit", "activation_unit.operand_elements", each.operand, "activation"},
                   {"activation_unit", "activation_unit.pooled_elements", each.pooled, "activation"}};
}

}  // namespace systole::hw
