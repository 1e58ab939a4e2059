#include "hw/isa/instructions/collect.h"

#include <array>

#include "hw/isa/fields.h"
#include "hw/isa/footprint.h"
#include "hw/isa/program_error.h"
#include "hw/isa/tile_layout.h"

namespace systole::isa {

void Collect::fields(FieldVisitor& visitor) {
    visitor.flags(std::array<FlagsPart, 1>{FlagField{.bit = 0, .word = "over_lanes", .value = over_lanes}});
    visitor.number({.name = "dst", .bytes = 3}, destination);
    visitor.number({.name = "src", .bytes = 3}, source);
}

Footprint Collect::footprint(const Registers& registers, const Geometry& geometry) const {
    RowRange read;
    std::uint64_t elements = 0;
    if (over_lanes) {
        const LaneVector vector = lane_vector(registers, geometry.tiles, source);
        read = range_of(vector);
        elements = vector.elements;
    } else {
        const TileLayout layout = tile_layout(registers, source_registers, geometry.tiles, source);
        check_whole(layout);
        read = layout.range();
        elements = layout.elements();
    }
    const RowRange written = vector_range(destination, elements);
    if (written.overlaps(read)) throw ProgramError("it may not write bytes that it reads");
    Footprint result;
    result.read(MemoryId::NarrowMemory, read);
    result.write(MemoryId::NarrowMemory, written);
    return result;
}

}  // namespace systole::isa
