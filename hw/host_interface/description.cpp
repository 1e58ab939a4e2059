// What the unit says of itself.
#include <algorithm>

#include "hw/host_interface/host_interface.h"
#include "hw/machine/event_energies.h"
#include "hw/timing/transfers.h"

namespace systole::hw {

void HostInterface::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    const machine::HostInterfaceConfig& link = machine.host_interface;
    constexpr double bytes_a_gb = 1e9;
    unit.box = {
        .title = "Host interface",
        .column = 0,
        .row = 1,
        .lines = {{"in {}, out {}",
                   {{link.read_gb_per_s * bytes_a_gb, "B/s"}, {link.write_gb_per_s * bytes_a_gb, "B/s"}}},
                  machine::latency_line(link.latency_cycles, link.latency_ns)},
        .busy_counter = "host_read.busy_cycles",
        .word = "reading"};
    unit.paths = {{.from = "host_interface",
                   .to = "unified_buffer",
                   .counters = {"host_interface.read_bytes", "host_interface.weight_bytes"},
                   .unit = "bytes",
                   .most = machine.host_read_rate(),
                   .traffic = "host_read",
                   .label = "host to chip",
                   .shift_y = -22},
                  {.from = "unified_buffer",
                   .to = "host_interface",
                   .counters = {"host_interface.write_bytes"},
                   .unit = "bytes",
                   .most = machine.host_write_rate(),
                   .traffic = "host_write",
                   .label = "chip to host",
                   .figures = machine::Side::Below,
                   .shift_y = 18},
                  {.from = "host_interface",
                   .to = "sequencer",
                   .counters = {"host_interface.instruction_bytes"},
                   .unit = "bytes",
                   .most = machine.host_read_rate(),
                   .traffic = "instruction",
                   .label = "instructions",
                   .figures = machine::Side::Right}};
    unit.what_ifs = {{"host_bandwidth",
                      "4x the host's bandwidth",
                      {{"host_interface.read_gb_per_s", link.read_gb_per_s * 4},
                       {"host_interface.write_gb_per_s", link.write_gb_per_s * 4}}}};
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
             .cycles = [this, &machine](const Amounts& amounts) {
                 const std::uint64_t read = amounts.inbound(counters_.read_bytes) +
                                            amounts.inbound(counters_.weight_bytes) +
                                            amounts.of(counters_.instruction_bytes);
                 const std::uint64_t written = amounts.outbound(counters_.write_bytes);
                 return std::max(timing::host_read_cycles(read, machine),
                                 timing::host_write_cycles(written, machine));
             }}};
}

}  // namespace systole::hw
