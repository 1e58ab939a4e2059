// What the unit says of itself.
#include <algorithm>

#include "hw/infeed/infeed.h"
#include "hw/timing/transfers.h"

namespace systole::hw {

void InfeedLink::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    const machine::HostInterfaceConfig& link = machine.host_interface;
    constexpr double bytes_a_gb = 1e9;
    unit.box = {
        .title = "Link to the host",
        .column = 0,
        .row = 3,
        .lines = {{"in {}, out {}",
                   {{link.read_gb_per_s * bytes_a_gb, "B/s"}, {link.write_gb_per_s * bytes_a_gb, "B/s"}}},
                  machine::latency_line(link.latency_cycles, link.latency_ns)},
        .busy_counter = "host_read.busy_cycles",
        .word = "reading"};
    unit.paths = {{.from = "host_interface",
                   .to = "hbm",
                   .counters = {"host_interface.read_bytes"},
                   .unit = "bytes",
                   .most = machine.host_read_rate(),
                   .traffic = "host_read",
                   .label = "host to chip",
                   .shift_y = -20},
                  {.from = "hbm",
                   .to = "host_interface",
                   .counters = {"host_interface.write_bytes"},
                   .unit = "bytes",
                   .most = machine.host_write_rate(),
                   .traffic = "host_write",
                   .label = "chip to host",
                   .figures = machine::Side::Below,
                   .shift_y = 20},
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
}

std::vector<UnitBound> InfeedLink::bounds(const machine::MachineConfig& machine) const {
    return {{.name = "infeed",
             .part = "host link",
             .meaning = "data and instructions travel",
             .place = 5,
             .cycles = [this, &machine](const Amounts& amounts) {
                 const std::uint64_t read =
                     amounts.inbound(counters_.read_bytes) + amounts.of(counters_.instruction_bytes);
                 return std::max(timing::host_read_cycles(read, machine),
                                 timing::host_write_cycles(amounts.outbound(counters_.write_bytes), machine));
             }}};
}

}  // namespace systole::hw
