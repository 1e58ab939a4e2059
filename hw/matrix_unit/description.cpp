// What the unit says of itself.
#include "hw/machine/event_energies.h"
#include "hw/matrix_unit/matrix_unit.h"

namespace systole::hw {

void MatrixUnit::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    if (!machine.energy) return;
    const machine::EventEnergies each = machine::event_energies(machine);
    unit.energy = {{"matrix_unit", "matrix_unit.useful_macs", each.mac, "matrix"},
                   {"matrix_unit", "matrix_unit.unused_macs", each.unused_mac, "matrix"}};
}

}  // namespace systole::hw
