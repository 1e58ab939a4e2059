#include "hw/isa/instructions/read_parameters.h"

#include "hw/isa/fields.h"
#include "hw/isa/rows.h"
#include "hw/isa/tile_grid.h"

namespace systole::isa {

void ReadParameters::fields(FieldVisitor& visitor) {
    visitor.host_address(host_address);
    visitor.number({.name = "unit", .bytes = 3}, unit);
    visitor.number({.name = "units", .bytes = 4, .minimum = 1}, units);
}

Footprint ReadParameters::footprint(const Registers& /*registers*/, const Geometry& /*geometry*/) const {
    Footprint result;
    result.write(MemoryId::WideMemory, wide_units(unit, units));
    result.read(MemoryId::HostMemory, {host_address, host_address + std::uint64_t{units} * tile_unit_bytes});
    return result;
}

}  // namespace systole::isa
