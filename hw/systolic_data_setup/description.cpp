// What the unit says of itself.
#include "hw/machine/event_energies.h"
#include "hw/systolic_data_setup/systolic_data_setup.h"

namespace systole::hw {

void SystolicDataSetup::describe(const machine::MachineConfig& machine,
                                 machine::UnitDescription& unit) const {
    if (!machine.energy) return;
    const machine::EventEnergies each = machine::event_energies(machine);
    unit.energy = {{"unified_buffer", "systolic_data_setup.fetches", each.buffer_row, "matrix"}};
}

}  // namespace systole::hw
