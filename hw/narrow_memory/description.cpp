// What the unit says of itself.
#include <fmt/format.h>

#include "hw/isa/memory.h"
#include "hw/narrow_memory/narrow_memory.h"

namespace systole::hw {

void NarrowMemory::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    unit.box = {.title = "Narrow memory",
                .column = 3,
                .row = 2,
                .lines = {{"{} a tile", {{static_cast<double>(machine.narrow_memory.bytes), "bytes"}}}},
                .filled = machine::Filled{used_, machine.narrow_memory.bytes, "peak"},
                .word = "ever used"};
    // All tiles keep as much: of a tensor, the patch of the fullest.
    unit.occupied = {.title = "Narrow memory of a tile",
                     .figure = "narrow_memory_bytes",
                     .unit = "bytes",
                     .capacity = machine.narrow_memory.bytes,
                     .track = "narrow memory",
                     .places = "bytes",
                     .in_place = true};
}

std::vector<MemoryPlaces> NarrowMemory::memories(const machine::MachineConfig& machine) const {
    return {{isa::MemoryId::NarrowMemory, machine.narrow_memory.bytes}};
}

std::span<const std::uint8_t> NarrowMemory::values(isa::MemoryId memory, std::uint64_t first,
                                                   std::uint64_t places, std::size_t tile) const {
    if (memory != isa::MemoryId::NarrowMemory) return {};
    return bytes(tile).subspan(first, places);
}

}  // namespace systole::hw
