// What the unit says of itself.
#include "hw/activation_unit/activation_unit.h"
#include "hw/machine/event_energies.h"
#include "hw/machine/floorplan.h"

namespace systole::hw {

void ActivationUnit::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    const machine::ActivationUnitConfig& config = machine.activation_unit;
    unit.box = {
        .title = "Activation unit",
        .column = 2,
        .row = 2,
        .lines = {{"one row a cycle"}, machine::latency_line(config.latency_cycles, config.latency_ns)},
        .busy_counter = "activation_unit.busy_cycles"};
    constexpr double percent_of_die = 6.0;  // TPU v1: 256 columns
    unit.die_part = {.name = "activation_unit",
                     .label = "activation unit",
                     .place = 4,
                     .percent = machine::floorplan::between(
                         percent_of_die * static_cast<double>(machine.matrix_unit.columns) / 256.0),
                     .core_percent = percent_of_die};
    // Two nested paths.
    unit.paths = {{.from = "unified_buffer",
                   .to = "activation_unit",
                   .counters = {"activation_unit.buffer_reads"},
                   .unit = "rows",
                   .most = {1, 1},
                   .shift_x = 45,
                   .shift_y = -18},
                  {.from = "activation_unit",
                   .to = "unified_buffer",
                   .counters = {"activation_unit.buffer_writes"},
                   .unit = "rows",
                   .most = {1, 1},
                   .figures = machine::Side::Below,
                   .shift_x = -45,
                   .shift_y = 14}};
    unit.what_ifs = {{"activation_latency",
                      "an activation latency of one cycle",
                      {{"activation_unit.latency_cycles", 1}, {"activation_unit.latency_ns", 0}}}};
    if (!machine.energy) return;
    const machine::EventEnergies each = machine::event_energies(machine);
    unit.energy = {{"unified_buffer", "activation_unit.buffer_reads", each.buffer_row, "activation"},
                   {"unified_buffer", "activation_unit.buffer_writes", each.buffer_row, "activation"},
                   {"activation_unit", "activation_unit.elements", each.requantized, "activation"},
                   {"activation_unit", "activation_unit.lookups", each.lookup, "activation"},
                   {"activation_unit", "activation_unit.operand_elements", each.operand, "activation"},
                   {"activation_unit", "activation_unit.pooled_elements", each.pooled, "activation"}};
}

std::vector<UnitBound> ActivationUnit::bounds(const machine::MachineConfig& /*machine*/) const {
    return {{.name = "activation",
             .part = "activation unit",
             .meaning = "the activation unit works",
             .place = 5,
             .computes = true,
             .cycles = [this](const Amounts& amounts) { return amounts.of(counters().busy_cycles); }}};
}

}  // namespace systole::hw
