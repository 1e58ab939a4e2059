#include "hw/isa/instructions/write_tensor.h"

#include <array>

#include "hw/isa/fields.h"
#include "hw/isa/footprint.h"
#include "hw/isa/tile_layout.h"

namespace systole::isa {

void WriteTensor::fields(FieldVisitor& visitor) {
    visitor.flags(std::array<FlagsPart, 1>{FlagField{.bit = 0, .word = "over_lanes", .value = over_lanes}});
    visitor.host_address(host_address);
    visitor.number({.name = "at", .bytes = 3}, address);
}

Footprint WriteTensor::footprint(const Registers& registers, const Geometry& geometry) const {
    Footprint result;
    if (over_lanes) {
        const LaneVector vector = lane_vector(registers, geometry.tiles, address);
        result.read(MemoryId::NarrowMemory, range_of(vector));
        result.write(MemoryId::HostMemory, packed_range(host_address, vector.elements));
        return result;
    }
    const TileLayout layout = tile_layout(registers, source_registers, geometry.tiles, address);
    check_whole(layout);
    result.read(MemoryId::NarrowMemory, layout.range());
    result.write(MemoryId::HostMemory, packed_range(host_address, layout.elements()));
    return result;
}

}  // namespace systole::isa
