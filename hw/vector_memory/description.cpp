// What the unit says of itself.
#include <fmt/format.h>

#include "hw/isa/memory.h"
#include "hw/machine/event_energies.h"
#include "hw/machine/floorplan.h"
#include "hw/vector_memory/vector_memory.h"

namespace systole::hw {

void VectorMemory::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    const std::uint64_t bytes = machine.vector_row_bytes() * rows_;
    unit.box = {
        .title = "Vector memory",
        .column = 3,
        .row = 2,
        .lines = {{"{}", {{static_cast<double>(bytes), "bytes"}}},
                  {fmt::format("{{}} rows of {} × 32 bit", lanes_), {{static_cast<double>(rows_), "count"}}}},
        .filled = machine::Filled{used_rows_ * machine.vector_row_bytes(), bytes, "peak"},
        .word = "ever used"};
    unit.occupied = {.title = "Vector memory",
                     .figure = "vector_memory_bytes",
                     .unit = "bytes",
                     .capacity = bytes,
                     .units_a_place = machine.vector_row_bytes(),
                     .track = "vector memory",
                     .places = "rows",
                     .map = "vector_memory_map"};
    namespace floorplan = machine::floorplan;
    const double percent = floorplan::tensor_memory_percent();
    unit.die_part = {.name = "vector_memory",
                     .label = "vector memory",
                     .place = 2,
                     .percent = floorplan::memory_of_size(
                         percent, static_cast<double>(bytes) / floorplan::tensor_memory_bytes),
                     .core_percent = percent};
    if (!machine.tensor_energy) return;
    const double byte = machine::tensor_event_energies(machine).vector_memory_byte;
    unit.energy = {{"vector_memory", "vector_memory.read_bytes", byte, ""},
                   {"vector_memory", "vector_memory.written_bytes", byte, ""}};
}

std::vector<MemoryPlaces> VectorMemory::memories(const machine::MachineConfig& machine) const {
    return {{isa::MemoryId::VectorMemory, machine.vector_memory.rows}};
}

std::span<const std::uint8_t> VectorMemory::values(isa::MemoryId memory, std::uint64_t first,
                                                   std::uint64_t places, std::size_t /*tile*/) const {
    if (memory != isa::MemoryId::VectorMemory) return {};
    return {reinterpret_cast<const std::uint8_t*>(words_.data() + first * lanes_),
            places * lanes_ * sizeof(std::uint32_t)};
}

}  // namespace systole::hw
