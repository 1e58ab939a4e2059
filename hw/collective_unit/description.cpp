// What the unit says of itself.
#include "hw/collective_unit/collective_unit.h"

namespace systole::hw {

void CollectiveUnit::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    if (machine.cores() == 1) return;  // it has nobody to talk to
    const machine::InterconnectConfig& links = machine.interconnect;
    constexpr double bytes_a_gb = 1e9;
    unit.box = {.title = "Links to other cores",
                .column = 2,
                .row = 3,
                .lines = {{"{} each way", {{links.gb_per_s * bytes_a_gb, "B/s"}}},
                          machine::latency_line(links.latency_cycles, links.latency_ns)},
                .busy_counter = "collective_unit.busy_cycles",
                .word = "busy"};
    // Towards both neighbours.
    unit.paths = {{.from = "vector_memory",
                   .to = "collective_unit",
                   .counters = {"collective_unit.sent_bytes"},
                   .unit = "bytes",
                   .most = {2 * machine.interconnect_rate().bytes, machine.interconnect_rate().cycles},
                   .traffic = "between_cores",
                   .label = "between cores",
                   .shift_x = -92,  // at the left of the vector unit
                   .shift_y = -45}};
    unit.what_ifs = {{"links", "4x the rate of the links", {{"interconnect.gb_per_s", links.gb_per_s * 4}}}};
}

std::vector<UnitBound> CollectiveUnit::bounds(const machine::MachineConfig& machine) const {
    if (machine.cores() == 1) return {};
    return {{.name = "link",
             .part = "links to other cores",
             .meaning = "rows of other cores are awaited in collectives",
             .place = 6,
             .cycles = [this](const Amounts& amounts) { return amounts.of(counters().busy_cycles); }}};
}

}  // namespace systole::hw
