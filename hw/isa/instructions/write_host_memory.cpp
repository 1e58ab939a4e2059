#include "hw/isa/instructions/write_host_memory.h"

#include "hw/isa/fields.h"
#include "hw/isa/rows.h"

namespace systole::isa {

void WriteHostMemory::fields(FieldVisitor& visitor) {
    visitor.host_address(host_address);
    visitor.number({.name = "ub", .bytes = 3}, unified_buffer_row);
    visitor.number({.name = "block", .bytes = 4, .minimum = 1}, block_bytes);
    visitor.number({.name = "count", .bytes = 2, .minimum = 1, .absent = 1}, blocks);
}

Footprint WriteHostMemory::footprint(const Registers& registers, const Geometry& geometry) const {
    Footprint result;
    result.read(MemoryId::UnifiedBuffer,
                host_rows(registers, unified_buffer_row, block_bytes, blocks, geometry.rows));
    result.write(MemoryId::HostMemory, host_bytes(registers, host_address, block_bytes, blocks));
    return result;
}

}  // namespace systole::isa
