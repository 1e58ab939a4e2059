// What the unit says of itself.
#include <fmt/format.h>

#include <variant>

#include "hw/isa/instruction.h"
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

std::optional<AwaitedWork> SystolicDataSetup::awaited(isa::QueueId queue) const {
    if (queue != isa::QueueId::Matrix) return std::nullopt;
    const auto fetches = [](const isa::Instruction& instruction) {
        return std::holds_alternative<isa::ReadWeights>(instruction);
    };
    return AwaitedWork{.from = isa::QueueId::Weights,
                       .gives = fetches,
                       .words = "for a weight tile, which {} fetches",
                       .nobody = "no read_weights"};
}

}  // namespace systole::hw
