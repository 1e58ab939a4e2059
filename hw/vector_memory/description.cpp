// What the unit says of itself.
#include <fmt/format.h>

#include "hw/isa/memory.h"
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
                     .places = "rows"};
}

std::vector<MemoryPlaces> VectorMemory::memories(const machine::MachineConfig& machine) const {
    return {{isa::MemoryId::VectorMemory, machine.vector_memory.rows}};
}

}  // namespace systole::hw
