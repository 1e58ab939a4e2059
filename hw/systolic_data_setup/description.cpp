// What the unit says of itself.
#include <fmt/format.h>

#include "hw/machine/event_energies.h"
#include "hw/systolic_data_setup/systolic_data_setup.h"

namespace systole::hw {

void SystolicDataSetup::describe(const machine::MachineConfig& machine,
                                 machine::UnitDescription& unit) const {
    const std::uint32_t fetches = machine.systolic_data_setup.fetches_per_cycle;
    unit.box = {.title = "Systolic data setup",
                .column = 2,
                .row = 1,
                .lines = {{fmt::format("{} fetch a cycle", fetches)}},
                .busy_counter = "systolic_data_setup.busy_cycles"};
    unit.paths = {{.from = "unified_buffer",
                   .to = "systolic_data_setup",
                   .counters = {"systolic_data_setup.fetches"},
                   .unit = "rows",
                   .most = {fetches, 1}}};
    unit.what_ifs = {{"fetches",
                      "2x the fetches of the data setup",
                      {{"systolic_data_setup.fetches_per_cycle", fetches * 2}}}};
    if (!machine.energy) return;
    const machine::EventEnergies each = machine::event_energies(machine);
    unit.energy = {{"unified_buffer", "systolic_data_setup.fetches", each.buffer_row, "matrix"}};
}

std::vector<UnitBound> SystolicDataSetup::bounds(const machine::MachineConfig& /*machine*/) const {
    return {{.name = "data_setup",
             .part = "data setup",
             .meaning = "lines of windows are read",
             .place = 2,
             .cycles = [this](const Amounts& amounts) { return amounts.of(line_counters_.fetch_cycles); }}};
}

}  // namespace systole::hw
