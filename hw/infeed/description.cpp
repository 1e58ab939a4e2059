// What the unit says of itself.
#include "hw/common/host_link.h"
#include "hw/infeed/infeed.h"
#include "hw/machine/event_energies.h"
#include "hw/timing/transfers.h"

namespace systole::hw {

void InfeedLink::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    describe_host_link(machine,
                       {.title = "Link to the host",
                        .row = 3,
                        .memory = "hbm",
                        .data_in = {"host_interface.read_bytes"},
                        .instructions = {"host_interface.instruction_bytes"},
                        .in_shift_y = -20,
                        .out_shift_y = 20},
                       unit);
    if (!machine.tensor_energy) return;
    const machine::TensorEventEnergies each = machine::tensor_event_energies(machine);
    unit.energy = {{"host_interface", "host_interface.read_bytes", each.host_byte, "host_read"},
                   {"host_interface", "host_interface.write_bytes", each.host_byte, "host_write"},
                   {"host_interface", "host_interface.instruction_bytes", each.host_byte, ""},
                   {"sequencer", "host_interface.instruction_bytes", each.instruction_byte, ""}};
}

std::vector<UnitBound> InfeedLink::bounds(const machine::MachineConfig& machine) const {
    return {{.name = "infeed",
             .part = "host link",
             .meaning = "data and instructions travel",
             .place = 5,
             .is_shared = true,
             .cycles = [this, &machine](const Amounts& amounts) {
                 return timing::host_link_cycles({.data_in = amounts.inbound(counters_.read_bytes),
                                                  .instructions = amounts.of(counters_.instruction_bytes),
                                                  .out = amounts.outbound(counters_.write_bytes)},
                                                 machine);
             }}};
}

}  // namespace systole::hw
