// What the unit says of itself.
#include <algorithm>
#include <cstdint>

#include "hw/common/host_link.h"
#include "hw/host_interface/host_interface.h"
#include "hw/machine/event_energies.h"
#include "hw/machine/floorplan.h"
#include "hw/timing/transfers.h"

namespace systole::hw {

void HostInterface::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    describe_host_link(machine,
                       {.title = "Host interface",
                        .row = 1,
                        .memory = "unified_buffer",
                        .data_in = {"host_interface.read_bytes", "host_interface.weight_bytes"},
                        .instructions = {"host_interface.instruction_bytes"},
                        .in_shift_y = -22,
                        .out_shift_y = 18},
                       unit);
    constexpr double percent_of_die = 2.0 + 3.0;  // TPU v1: host interface, PCI Express
    constexpr double gb_per_s_of_v1 = 10.73741824;
    const double most = std::max(machine.host_interface.read_gb_per_s, machine.host_interface.write_gb_per_s);
    // In proportion, as lanes; or as it is, since a link may be wider than what is used of it. Pads do not
    // shrink.
    unit.die_part = {
        .name = "host_interface",
        .label = "host interface",
        .place = 6,
        .percent = machine::floorplan::between(percent_of_die * most / gb_per_s_of_v1, {percent_of_die}),
        .shrinks = false};
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

std::vector<UnitBound> HostInterface::bounds(const machine::MachineConfig& machine) const {
    return {{.name = "host_link",
             .part = "host link",
             .meaning = "data and instructions travel",
             .place = 4,
             .is_shared = true,
             .cycles = [this, &machine](const Amounts& amounts) {
                 return timing::host_link_cycles({.data_in = amounts.inbound(counters_.read_bytes) +
                                                             amounts.inbound(counters_.weight_bytes),
                                                  .instructions = amounts.of(counters_.instruction_bytes),
                                                  .out = amounts.outbound(counters_.write_bytes)},
                                                 machine);
             }}};
}

}  // namespace systole::hw
