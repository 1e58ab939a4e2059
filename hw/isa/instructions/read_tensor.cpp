#include "hw/isa/instructions/read_tensor.h"

#include "hw/isa/fields.h"
#include "hw/isa/footprint.h"
#include "hw/isa/tile_layout.h"

namespace systole::isa {

void ReadTensor::fields(FieldVisitor& visitor) {
    visitor.host_address(host_address);
    visitor.number({.name = "at", .bytes = 3}, address);
}

Footprint ReadTensor::footprint(const Registers& registers, const Geometry& geometry) const {
    const TileLayout layout = tile_layout(registers, result_registers, geometry.tiles, address);
    check_whole(layout);
    Footprint result;
    result.write(MemoryId::NarrowMemory, layout.range());
    result.read(MemoryId::HostMemory, packed_range(host_address, layout.elements()));
    return result;
}

}  // namespace systole::isa
