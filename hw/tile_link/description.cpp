// What the unit says of itself.
#include <cstdint>
#include <variant>

#include "hw/common/host_link.h"
#include "hw/isa/instruction.h"
#include "hw/tile_link/tile_link.h"
#include "hw/timing/transfers.h"

namespace systole::hw {

void TileLink::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    describe_host_link(machine,
                       {.title = "Link to the host",
                        .row = 2,
                        .memory = "narrow_memory",
                        .data_in = {"host_interface.read_bytes"},
                        .instructions = {"host_interface.instruction_bytes", "host_interface.program_bytes"},
                        .others_in = {{.from = "host_interface",
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
                                       .shift_y = -48}},
                        .in_shift_y = 24,
                        .out_shift_y = 44},
                       unit);
    if (!machine.tile_energy) return;
    const machine::TileEnergyConfig& each = *machine.tile_energy;
    const double byte = each.host_link_pj_per_byte;
    unit.energy = {
        {"host_interface", "host_interface.read_bytes", byte, "host_read"},
        {"host_interface", "host_interface.write_bytes", byte, "host_write"},
        {"host_interface", "host_interface.parameter_bytes", byte, "host_read", true},
        {"host_interface", "host_interface.streamed_bytes", byte, "host_read"},
        {"host_interface", "host_interface.program_bytes", byte, "host_read"},
        {"host_interface", "host_interface.instruction_bytes", byte, ""},
        {"host_processor", "host_interface.calls", each.host_pj(machine.host.call_us), "host_read"}};
}

std::vector<UnitBound> TileLink::bounds(const machine::MachineConfig& machine) const {
    return {{.name = "host_link",
             .part = "host link",
             .meaning = "calls begin; parameters, data and instructions travel",
             .place = 5,
             .cycles = [this, &machine](const Amounts& amounts) {
                 return timing::host_link_cycles(
                     {.data_in = amounts.inbound(counters_.read_bytes) +
                                 amounts.of(counters_.parameter_bytes) +
                                 amounts.of(counters_.streamed_bytes) + amounts.of(counters_.program_bytes),
                      .instructions = amounts.of(counters_.instruction_bytes),
                      .out = amounts.outbound(counters_.write_bytes),
                      .calls = amounts.of(counters_.calls)},
                     machine);
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
