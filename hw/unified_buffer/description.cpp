// What the unit says of itself.
#include <fmt/format.h>

#include "hw/isa/memory.h"
#include "hw/machine/floorplan.h"
#include "hw/unified_buffer/unified_buffer.h"

namespace systole::hw {

void UnifiedBuffer::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    const machine::UnifiedBufferConfig& buffer = machine.unified_buffer;
    const std::uint64_t bytes = machine.unified_buffer_bytes();
    const std::uint64_t row = row_bytes_;
    unit.box = {
        .title = "Unified buffer",
        .column = 1,
        .row = 1,
        .lines = {{fmt::format("{{}}, rows of {} B", row), {{static_cast<double>(bytes), "bytes"}}},
                  {fmt::format("{} ports to read, {} to write", buffer.read_ports, buffer.write_ports)}},
        .filled = machine::Filled{touched_bytes(), bytes, "peak"},
        .word = "ever used"};
    unit.occupied = {.title = "Unified buffer",
                     .figure = "unified_buffer_bytes",
                     .unit = "bytes",
                     .capacity = bytes,
                     .units_a_place = row,
                     .track = "unified buffer",
                     .places = "rows",
                     .map = "unified_buffer_map"};
    namespace floorplan = machine::floorplan;
    unit.die_part = {
        .name = "unified_buffer",
        .label = "unified buffer",
        .place = 2,
        .percent = floorplan::memory_of_size(floorplan::unified_buffer_percent,
                                             static_cast<double>(bytes) / floorplan::unified_buffer_bytes),
        .core_percent = floorplan::unified_buffer_percent};
    unit.what_ifs = {
        {"buffer", "2x the unified buffer", {{"unified_buffer.rows", buffer.rows * 2}}, true},
        // A port for each unit that uses the memory; more are not possible.
        {"ports",
         "memory ports for all units at once",
         {{"unified_buffer.read_ports", 3}, {"unified_buffer.write_ports", 2}, {"accumulators.ports", 2}}}};
}

std::vector<MemoryPlaces> UnifiedBuffer::memories(const machine::MachineConfig& machine) const {
    return {{isa::MemoryId::UnifiedBuffer, machine.unified_buffer.rows}};
}

std::span<const std::uint8_t> UnifiedBuffer::values(isa::MemoryId memory, std::uint64_t first,
                                                    std::uint64_t places, std::size_t /*tile*/) const {
    if (memory != isa::MemoryId::UnifiedBuffer) return {};
    return {read(first, places), places * row_bytes()};
}

}  // namespace systole::hw
