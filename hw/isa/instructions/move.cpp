#include "hw/isa/instructions/move.h"

#include <fmt/format.h>

#include <array>

#include "hw/isa/fields.h"
#include "hw/isa/footprint.h"
#include "hw/isa/moved_pixels.h"
#include "hw/isa/program_error.h"
#include "hw/isa/tile_layout.h"

namespace systole::isa {

void Move::fields(FieldVisitor& visitor) {
    visitor.flags(std::array<FlagsPart, 2>{FlagField{.bit = 0, .word = "keep", .value = keeps},
                                           FlagField{.bit = 1, .word = "repeat", .value = repeats}});
    visitor.number({.name = "dst", .bytes = 3}, result);
    visitor.number({.name = "src", .bytes = 3}, source);
}

Footprint Move::footprint(const Registers& registers, const Geometry& geometry) const {
    const TileLayout from = tile_layout(registers, source_registers, geometry.tiles, source);
    const TileLayout to = tile_layout(registers, result_registers, geometry.tiles, result);
    check_whole(from);
    check_whole(to);
    if (from.channels != to.channels) {
        throw ProgramError(fmt::format("the source has {} channels, the result {}; they must be alike",
                                       from.channels, to.channels));
    }
    moved_pixels(*this, registers);
    if (to.range().overlaps(from.range())) throw ProgramError("it may not write bytes that it reads");
    Footprint touched;
    touched.read(MemoryId::NarrowMemory, from.range());
    touched.write(MemoryId::NarrowMemory, to.range());
    return touched;
}

}  // namespace systole::isa
