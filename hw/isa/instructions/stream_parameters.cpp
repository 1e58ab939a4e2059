#include "hw/isa/instructions/stream_parameters.h"

#include "base/arithmetic.h"
#include "hw/isa/fields.h"
#include "hw/isa/footprint.h"
#include "hw/isa/tile_grid.h"
#include "hw/isa/tile_layout.h"

namespace systole::isa {

void StreamParameters::fields(FieldVisitor& visitor) {
    visitor.host_address(host_address);
    visitor.number({.name = "rows", .bytes = 4, .minimum = 1}, rows);
    visitor.number({.name = "units", .bytes = 1, .minimum = 1}, units);
    visitor.number({.name = "groups", .bytes = 2, .minimum = 1, .absent = 1}, groups);
    visitor.number({.name = "repeats", .bytes = 4, .minimum = 1, .absent = 1}, repeats);
}

std::uint64_t StreamParameters::group_bytes() const {
    return std::uint64_t{rows} * units * tile_unit_bytes;
}

Footprint StreamParameters::footprint(const Registers& /*registers*/, const Geometry& /*geometry*/) const {
    Footprint result;
    result.read(MemoryId::HostMemory, packed_range(host_address, saturating_product(group_bytes(), groups)));
    return result;
}

}  // namespace systole::isa
