// What the unit says of itself.
#include <algorithm>
#include <variant>

#include "hw/isa/instruction.h"
#include "hw/tile_link/tile_link.h"
#include "hw/timing/transfers.h"

namespace systole::hw {

void TileLink::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    const machine::HostInterfaceConfig& link = machine.host_interface;
    constexpr double bytes_a_gb = 1e9;
    unit.box = {
        .title = "Link to the host",
        .column = 0,
        .row = 2,
        .lines = {{"in {}, out {}",
                   {{link.read_gb_per_s * bytes_a_gb, "B/s"}, {link.write_gb_per_s * bytes_a_gb, "B/s"}}},
                  machine::latency_line(link.latency_cycles, link.latency_ns)},
        .busy_counter = "host_read.busy_cycles",
        .word = "reading"};
    unit.paths = {{.from = "host_interface",
                   .to = "narrow_memory",
                   .counters = {"host_interface.read_bytes"},
                   .unit = "bytes",
                   .most = machine.host_read_rate(),
                   .traffic = "host_read",
                   .label = "host to chip",
                   .shift_y = 24},
                  {.from = "narrow_memory",
                   .to = "host_interface",
                   .counters = {"host_interface.write_bytes"},
                   .unit = "bytes",
                   .most = machine.host_write_rate(),
                   .traffic = "host_write",
                   .label = "chip to host",
                   .figures = machine::Side::Below,
                   .shift_y = 44},
                  {.from = "host_interface",
                   .to = "wide_memory",
                   .counters = {"host_interface.parameter_bytes"},
                   .unit = "bytes",
                   .most = machine.host_read_rate(),
                   .traffic = "parameter",
                   .label = "parameters",
                   .shift_x = -40,
                   .shift_y = -20},
                  {.from = "host_interface",
                   .to = "ring",
                   .counters = {"host_interface.streamed_bytes"},
                   .unit = "bytes",
                   .most = machine.host_read_rate(),
                   .traffic = "streamed",
                   .label = "streamed",
                   .shift_x = -60,
                   .shift_y = -48},
                  {.from = "host_interface",
                   .to = "sequencer",
                   .counters = {"host_interface.instruction_bytes", "host_interface.program_bytes"},
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

std::vector<UnitBound> TileLink::bounds(const machine::MachineConfig& machine) const {
    return {{.name = "host_link",
             .part = "host link",
             .meaning = "parameters, data and instructions travel",
             .place = 5,
             .cycles = [this, &machine](const Amounts& amounts) {
                 const std::uint64_t read =
                     amounts.inbound(counters_.read_bytes) + amounts.of(counters_.parameter_bytes) +
                     amounts.of(counters_.streamed_bytes) + amounts.of(counters_.program_bytes) +
                     amounts.of(counters_.instruction_bytes);
                 return std::max(timing::host_read_cycles(read, machine),
                                 timing::host_write_cycles(amounts.outbound(counters_.write_bytes), machine));
             }}};
}

std::optional<AwaitedWork> TileLink::awaited(isa::QueueId queue) const {
    if (queue != isa::QueueId::HostRead) return std::nullopt;
    const auto sends = [](const isa::Instruction& instruction) {
        const auto* const multicast = std::get_if<isa::Multicast>(&instruction);
        return multicast != nullptr && multicast->streamed;
    };
    return AwaitedWork{.from = isa::QueueId::Ring,
                       .gives = sends,
                       .words = "for room in the staging buffer, whose parameters {} sends",
                       .nobody = "no multicast"};
}

}  // namespace systole::hw
