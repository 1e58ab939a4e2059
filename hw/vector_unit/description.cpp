// What the unit says of itself.
#include <fmt/format.h>

#include "hw/machine/event_energies.h"
#include "hw/vector_unit/vector_unit.h"

namespace systole::hw {

void VectorUnit::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    const machine::VectorUnitConfig& config = machine.vector_unit;
    unit.box = {.title = "Vector unit",
                .column = 3,
                .row = 3,
                .lines = {{fmt::format("{} x {} lanes", config.sublanes, config.lanes)},
                          {fmt::format("{} operations a cycle", config.operations_per_cycle)}},
                .busy_counter = "vector_unit.busy_cycles",
                .word = "working"};
    unit.paths = {{.from = "vector_memory",
                   .to = "vector_unit",
                   .counters = {"vector_unit.loads"},
                   .unit = "vectors",
                   .most = {config.loads_per_cycle, 1},
                   .figures = machine::Side::Left,
                   .shift_x = -30},
                  {.from = "vector_unit",
                   .to = "vector_memory",
                   .counters = {"vector_unit.stores"},
                   .unit = "vectors",
                   .most = {config.stores_per_cycle, 1},
                   .figures = machine::Side::Right,
                   .shift_x = 30}};
    unit.what_ifs = {{"vector_operations",
                      "2x the operations of the vector unit",
                      {{"vector_unit.operations_per_cycle", config.operations_per_cycle * 2}}},
                     {"vector_loads",
                      "2x the loads and stores of the vector unit",
                      {{"vector_unit.loads_per_cycle", config.loads_per_cycle * 2},
                       {"vector_unit.stores_per_cycle", config.stores_per_cycle * 2}}}};
    if (!machine.tensor_energy) return;
    unit.energy = {{"vector_unit", "vector_unit.operations",
                    machine::tensor_event_energies(machine).vector_operation, "vector"}};
}

std::vector<UnitBound> VectorUnit::bounds(const machine::MachineConfig& /*machine*/) const {
    return {{.name = "vector",
             .part = "vector unit",
             .meaning = "elements are worked on",
             .place = 4,
             .computes = true,
             .cycles = [this](const Amounts& amounts) { return amounts.of(counters().busy_cycles); }}};
}

}  // namespace systole::hw
