#include "hw/isa/instructions/multicast.h"

#include <array>

#include "base/arithmetic.h"
#include "hw/isa/fields.h"
#include "hw/isa/rows.h"
#include "hw/isa/tile_grid.h"
#include "hw/isa/tile_layout.h"

namespace systole::isa {

void Multicast::fields(FieldVisitor& visitor) {
    visitor.flags(std::array<FlagsPart, 1>{FlagField{.bit = 0, .word = "streamed", .value = streamed}});
    if (streamed) {
        visitor.host_address(parameters);
    } else {
        visitor.number({.name = "unit", .bytes = host_address_bytes}, parameters);
    }
    visitor.number({.name = "rows", .bytes = 4, .minimum = 1}, rows);
    visitor.number({.name = "units", .bytes = 1, .minimum = 1}, units);
    visitor.number({.name = "groups", .bytes = 2, .minimum = 1, .absent = 1}, groups);
    visitor.number({.name = "repeats", .bytes = 4, .minimum = 1, .absent = 1}, repeats);
}

Footprint Multicast::footprint(const Registers& /*registers*/, const Geometry& /*geometry*/) const {
    const std::uint64_t all = saturating_product(std::uint64_t{rows} * units, groups);
    Footprint result;
    if (streamed) {
        result.read(MemoryId::HostMemory, packed_range(parameters, saturating_product(all, tile_unit_bytes)));
    } else {
        result.read(MemoryId::WideMemory, wide_units(parameters, all));
    }
    return result;
}

}  // namespace systole::isa
