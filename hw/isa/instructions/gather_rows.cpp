#include "hw/isa/instructions/gather_rows.h"

#include <fmt/format.h>

#include <bit>
#include <cstdint>

#include "hw/isa/fields.h"
#include "hw/isa/footprint.h"
#include "hw/isa/panels.h"
#include "hw/isa/program.h"
#include "hw/isa/program_error.h"

namespace systole::isa {

void GatherRows::fields(FieldVisitor& visitor) {
    visitor.number({.name = "hbm", .bytes = 4}, hbm_row);
    visitor.number({.name = "table", .bytes = 4, .minimum = 1}, table_rows);
    visitor.number({.name = "indices", .bytes = 4}, indices);
    visitor.number({.name = "at", .bytes = 3}, row);
    visitor.number({.name = "rows", .bytes = 2, .minimum = 1}, rows);
    visitor.number({.name = "blocks", .bytes = 3, .minimum = 1, .absent = 1}, blocks);
}

Footprint GatherRows::footprint(const Registers& registers, const Geometry& geometry) const {
    check_lanes(geometry.tensor, "rows", rows);
    Footprint touched;
    touched.read(MemoryId::Hbm, hbm_blocks(registers, hbm_row, {.rows = table_rows, .blocks = blocks}));
    touched.read(MemoryId::Hbm, hbm_blocks(registers, indices, {.rows = 1, .blocks = 1}));
    touched.write(MemoryId::VectorMemory, memory_blocks(registers, row, {.rows = rows, .blocks = blocks}));
    return touched;
}

std::uint32_t gathered_row(const GatherRows& gather, std::uint64_t place, std::uint32_t word) {
    if (word < gather.table_rows) return word;
    throw ProgramError(fmt::format("index {} is {}; the table has rows 0 to {}", place,
                                   std::bit_cast<std::int32_t>(word), gather.table_rows - 1));
}

}  // namespace systole::isa
