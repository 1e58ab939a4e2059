#include "hw/common/host_link.h"

#include <utility>

namespace systole::hw {

void describe_host_link(const machine::MachineConfig& machine, LinkPlace place,
                        machine::UnitDescription& unit) {
    const machine::HostInterfaceConfig& link = machine.host_interface;
    constexpr double bytes_a_gb = 1e9;
    unit.box = {
        .title = std::move(place.title),
        .column = 0,
        .row = place.row,
        .lines = {{"in {}, out {}",
                   {{link.read_gb_per_s * bytes_a_gb, "B/s"}, {link.write_gb_per_s * bytes_a_gb, "B/s"}}},
                  machine::latency_line(link.latency_cycles, link.latency_ns)},
        .busy_counter = "host_read.busy_cycles",
        .word = "reading"};
    unit.paths = {{.from = "host_interface",
                   .to = place.memory,
                   .counters = std::move(place.data_in),
                   .unit = "bytes",
                   .most = machine.host_read_rate(),
                   .traffic = "host_read",
                   .label = "host to chip",
                   .shift_y = place.in_shift_y},
                  {.from = place.memory,
                   .to = "host_interface",
                   .counters = {"host_interface.write_bytes"},
                   .unit = "bytes",
                   .most = machine.host_write_rate(),
                   .traffic = "host_write",
                   .label = "chip to host",
                   .figures = machine::Side::Below,
                   .shift_y = place.out_shift_y}};
    for (machine::DataPath& path : place.others_in) unit.paths.push_back(std::move(path));
    unit.paths.push_back({.from = "host_interface",
                          .to = "sequencer",
                          .counters = std::move(place.instructions),
                          .unit = "bytes",
                          .most = machine.host_read_rate(),
                          .traffic = "instruction",
                          .label = "instructions",
                          .figures = machine::Side::Right});
    unit.what_ifs = {{"host_bandwidth",
                      "4x the host's bandwidth",
                      {{"host_interface.read_gb_per_s", link.read_gb_per_s * 4},
                       {"host_interface.write_gb_per_s", link.write_gb_per_s * 4}}}};
}

}  // namespace systole::hw
