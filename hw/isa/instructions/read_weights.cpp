#include "hw/isa/instructions/read_weights.h"

#include "hw/isa/fields.h"
#include "hw/isa/footprint.h"

namespace systole::isa {

void ReadWeights::fields(FieldVisitor& visitor) {
    visitor.number({.name = "tile", .bytes = 4}, first_tile);
    visitor.number({.name = "count", .bytes = 2, .minimum = 1, .absent = 1}, tiles);
}

Footprint ReadWeights::footprint(const Registers& /*registers*/, const Geometry& /*geometry*/) const {
    Footprint result;
    result.read(MemoryId::WeightMemory, {.first = first_tile, .last = std::uint64_t{first_tile} + tiles});
    return result;
}

}  // namespace systole::isa
