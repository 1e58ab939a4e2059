// What the unit says of itself.
#include "hw/accumulators/accumulators.h"
#include "hw/machine/event_energies.h"

namespace systole::hw {

void Accumulators::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    if (!machine.energy) return;
    const machine::EventEnergies each = machine::event_energies(machine);
    unit.energy = {{"accumulators", "accumulators.pass_writes", each.sums_row, "matrix"},
                   {"accumulators", "accumulators.additions", each.sums_row + each.sums_add, "matrix"},
                   {"accumulators", "accumulators.reads", each.sums_row, "activation"}};
}

}  // namespace systole::hw
