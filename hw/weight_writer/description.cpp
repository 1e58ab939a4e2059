// What the unit says of itself.
#include "hw/machine/event_energies.h"
#include "hw/machine/floorplan.h"
#include "hw/timing/transfers.h"
#include "hw/weight_writer/weight_writer.h"

namespace systole::hw {

void WeightWriter::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    unit.box = {.title = "Weight writer",
                .column = 1,
                .row = 0,
                .lines = {{"one tile of {}", {{static_cast<double>(machine.tile_bytes()), "bytes"}}}}};
    // TPU v1 has none. As the weight FIFO: by the bytes of its tile, as a memory like the unified buffer.
    namespace floorplan = machine::floorplan;
    constexpr double bytes_of_v1 = 65536.0;
    constexpr double percent =
        floorplan::unified_buffer_percent * bytes_of_v1 / floorplan::unified_buffer_bytes;
    unit.die_part = {.name = "weight_writer",
                     .label = "weight writer",
                     .place = 10,
                     .percent = floorplan::memory_of_size(
                         percent, static_cast<double>(machine.tile_bytes()) / bytes_of_v1)};
    unit.paths = {{.from = "unified_buffer",
                   .to = "weight_writer",
                   .counters = {"weight_writer.buffer_reads"},
                   .unit = "rows",
                   .most = {1, 1}},
                  {.from = "weight_writer",
                   .to = "weight_memory",
                   .counters = {"weight_writer.bytes"},
                   .unit = "bytes",
                   .most = machine.weight_write_rate(),
                   .traffic = "weight_write",
                   .label = "to weight memory"}};
    const machine::NewValue faster{"weight_memory.writable.gb_per_s",
                                   machine.weight_memory.writable->gb_per_s * 4};
    unit.what_ifs = {{"weight_writes", "4x the rate of weight writes", {faster}}};
    if (!machine.energy) return;
    const machine::EventEnergies each = machine::event_energies(machine);
    unit.energy = {{"unified_buffer", "weight_writer.buffer_reads", each.buffer_row, "weight_write"},
                   {"weight_memory", "weight_writer.bytes", each.weight_byte, "weight_write"}};
}

std::vector<UnitBound> WeightWriter::bounds(const machine::MachineConfig& /*machine*/) const {
    return {weight_memory_bound([this](const Amounts& amounts) {
        return timing::weight_read_cycles(arrived_.from_memory(amounts), context_.machine) +
               timing::weight_write_cycles(amounts.of(counters_.bytes), context_.machine);
    })};
}

}  // namespace systole::hw
