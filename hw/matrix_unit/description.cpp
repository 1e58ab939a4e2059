// What the unit says of itself.
#include <fmt/format.h>

#include "hw/machine/event_energies.h"
#include "hw/matrix_unit/matrix_unit.h"

namespace systole::hw {

void MatrixUnit::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    const machine::MatrixUnitConfig& array = machine.matrix_unit;
    unit.box = {.title = "Matrix unit",
                .column = 3,
                .row = 1,
                .lines = {{fmt::format("{} × {} at {} MHz", array.rows, array.columns, machine.clock_mhz)},
                          {"peak {}", {{machine.peak_ops_per_second(), "OPS"}}}},
                .busy_counter = "matrix_unit.active_cycles",
                .word = "active"};
    // A row with 16-bit operands passes through the array two or four times.
    unit.paths = {{.from = "systolic_data_setup",
                   .to = "matrix_unit",
                   .counters = {"matrix_unit.active_cycles"},
                   .unit = "row passes",
                   .most = {1, 1}}};
    if (!machine.energy) return;
    const machine::EventEnergies each = machine::event_energies(machine);
    unit.energy = {{"matrix_unit", "matrix_unit.useful_macs", each.mac, "matrix"},
                   {"matrix_unit", "matrix_unit.unused_macs", each.unused_mac, "matrix"}};
}

}  // namespace systole::hw
