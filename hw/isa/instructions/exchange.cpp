#include "hw/isa/instructions/exchange.h"

#include "hw/isa/fields.h"
#include "hw/isa/footprint.h"
#include "hw/isa/tile_layout.h"

namespace systole::isa {

void Exchange::fields(FieldVisitor& visitor) {
    visitor.number({.name = "at", .bytes = 3}, address);
}

Footprint Exchange::footprint(const Registers& registers, const Geometry& geometry) const {
    const TileLayout layout = tile_layout(registers, source_registers, geometry.tiles, address);
    check_whole(layout);
    Footprint result;
    result.write(MemoryId::NarrowMemory, layout.range());
    return result;
}

}  // namespace systole::isa
