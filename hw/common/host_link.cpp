#include "hw/common/host_link.h"

#include <utility>

namespace systole::hw {
namespace {

/// The processor, and both directions of each chip's link.
std::vector<PortArbiter::Places> places_of(const machine::MachineConfig& machine, std::size_t cores,
                                           std::size_t cores_of_chip) {
    const auto all = static_cast<std::uint32_t>(cores);
    const auto users = static_cast<std::uint32_t>(cores_of_chip);
    std::vector<PortArbiter::Places> places{{1, all}};
    for (std::size_t first = 0; first < cores; first += cores_of_chip) {
        places.push_back({1, users * (machine.weight_memory.spill ? 2 : 1)});
        places.push_back({1, users});
    }
    return places;
}

}  // namespace

HostLink::HostLink(const machine::MachineConfig& machine, std::size_t cores, std::size_t cores_of_chip,
                   const Clock& clock)
    : cores_of_chip_(cores_of_chip), ports_(places_of(machine, cores, cores_of_chip), clock) {
    for (std::size_t first = 0; first < cores; first += cores_of_chip) {
        inbound_.emplace_back(machine.host_read_rate(), cores_of_chip, clock);
        outbound_.emplace_back(machine.host_write_rate(), cores_of_chip, clock);
    }
}

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
                   .most = machine.rate_of_core(machine.host_read_rate()),
                   .traffic = "host_read",
                   .label = "host to chip",
                   .shift_y = place.in_shift_y},
                  {.from = place.memory,
                   .to = "host_interface",
                   .counters = {"host_interface.write_bytes"},
                   .unit = "bytes",
                   .most = machine.rate_of_core(machine.host_write_rate()),
                   .traffic = "host_write",
                   .label = "chip to host",
                   .figures = machine::Side::Below,
                   .shift_y = place.out_shift_y}};
    for (machine::DataPath& path : place.others_in) unit.paths.push_back(std::move(path));
    unit.paths.push_back({.from = "host_interface",
                          .to = "sequencer",
                          .counters = std::move(place.instructions),
                          .unit = "bytes",
                          .most = machine.rate_of_core(machine.host_read_rate()),
                          .traffic = "instruction",
                          .label = "instructions",
                          .figures = machine::Side::Right});
    unit.what_ifs = {{"host_bandwidth",
                      "4x the host's bandwidth",
                      {{"host_interface.read_gb_per_s", link.read_gb_per_s * 4},
                       {"host_interface.write_gb_per_s", link.write_gb_per_s * 4}}}};
}

}  // namespace systole::hw
