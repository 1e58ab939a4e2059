#include "hw/isa/instructions/dma_in.h"

#include "hw/isa/fields.h"
#include "hw/isa/footprint.h"
#include "hw/isa/panels.h"
#include "hw/isa/program.h"

namespace systole::isa {

void DmaIn::fields(FieldVisitor& visitor) {
    visitor.number({.name = "hbm", .bytes = 4}, hbm_row);
    visitor.number({.name = "at", .bytes = 3}, row);
    visitor.number({.name = "rows", .bytes = 3, .minimum = 1}, rows);
    visitor.number({.name = "blocks", .bytes = 3, .minimum = 1, .absent = 1}, blocks);
}

Footprint DmaIn::footprint(const Registers& registers, const Geometry& /*geometry*/) const {
    const RowBlocks blocks_of_rows{.rows = rows, .blocks = blocks};
    Footprint touched;
    touched.read(MemoryId::Hbm, hbm_blocks(registers, hbm_row, blocks_of_rows));
    touched.write(MemoryId::VectorMemory, memory_blocks(registers, row, blocks_of_rows));
    return touched;
}

}  // namespace systole::isa
