// What the unit says of itself.
#include "hw/host_interface/host_interface.h"
#include "hw/machine/event_energies.h"

namespace systole::hw {

void HostInterface::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    if (!machine.energy) return;
    const machine::EventEnergies each = machine::event_energies(machine);
    unit.energy = {{"unified_buffer", "host_interface.buffer_writes", each.buffer_row, "host_read"},
                   {"unified_buffer", "host_interface.buffer_reads", each.buffer_row, "host_write"},
                   {"host_interface", "host_interface.read_bytes", each.host_byte, "host_read"},
                   {"host_interface", "host_interface.weight_bytes", each.host_byte, "weight_fetch"},
                   {"host_interface", "host_interface.write_bytes", each.host_byte, "host_write"},
                   {"host_interface", "host_interface.instruction_bytes", each.host_byte, ""},
                   {"sequencer", "host_interface.instruction_bytes", each.instruction_byte, ""}};
}

}  // namespace systole::hw
