// What the unit says of itself.
#include <fmt/format.h>

#include "hw/accumulators/accumulators.h"
#include "hw/isa/memory.h"
#include "hw/machine/event_energies.h"
#include "hw/machine/floorplan.h"

namespace systole::hw {

void Accumulators::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    const machine::AccumulatorsConfig& sums = machine.accumulators;
    unit.box = {.title = "Accumulators",
                .column = 3,
                .row = 2,
                .lines = {{fmt::format("{{}} rows of {} × 32 bit", columns_),
                           {{static_cast<double>(sums.rows), "count"}}},
                          {fmt::format("{} banks, {} ports", sums.banks, sums.ports)}}};
    unit.occupied = {
        .title = "Accumulators", .figure = "accumulator_rows", .unit = "rows", .capacity = sums.rows};
    constexpr double percent = 6.0;  // for 4 MiB
    constexpr double mib = 1024.0 * 1024.0;
    const double bytes = 4.0 * machine.matrix_unit.columns * sums.rows;
    unit.die_part = {.name = "accumulators",
                     .label = "accumulators",
                     .place = 3,
                     .percent = machine::floorplan::memory_of_size(percent, bytes / (4.0 * mib)),
                     .core_percent = percent};
    unit.paths = {{.from = "matrix_unit",
                   .to = "accumulators",
                   .counters = {"accumulators.pass_writes"},
                   .unit = "row passes",
                   .most = {1, 1},
                   .figures = machine::Side::Left},
                  {.from = "accumulators",
                   .to = "activation_unit",
                   .counters = {"accumulators.reads"},
                   .unit = "rows",
                   .most = {1, 1},
                   .figures = machine::Side::Below}};
    unit.what_ifs = {{"accumulators", "4x the accumulators", {{"accumulators.rows", sums.rows * 4}}, true}};
    if (!machine.energy) return;
    const machine::EventEnergies each = machine::event_energies(machine);
    unit.energy = {{"accumulators", "accumulators.pass_writes", each.sums_row, "matrix"},
                   {"accumulators", "accumulators.additions", each.sums_row + each.sums_add, "matrix"},
                   {"accumulators", "accumulators.reads", each.sums_row, "activation"}};
}

std::vector<MemoryPlaces> Accumulators::memories(const machine::MachineConfig& machine) const {
    return {{isa::MemoryId::Accumulators, machine.accumulators.rows}};
}

std::span<const std::uint8_t> Accumulators::values(isa::MemoryId memory, std::uint64_t first,
                                                   std::uint64_t places, std::size_t /*tile*/) const {
    if (memory != isa::MemoryId::Accumulators) return {};
    return {reinterpret_cast<const std::uint8_t*>(read(first, places)),
            places * columns_ * sizeof(std::int32_t)};
}

}  // namespace systole::hw
