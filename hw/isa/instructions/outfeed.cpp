#include "hw/isa/instructions/outfeed.h"

#include "hw/isa/fields.h"
#include "hw/isa/footprint.h"
#include "hw/isa/panels.h"
#include "hw/isa/program.h"

namespace systole::isa {

void Outfeed::fields(FieldVisitor& visitor) {
    visitor.host_address(host_address);
    visitor.number({.name = "hbm", .bytes = 4}, hbm_row);
    visitor.number({.name = "rows", .bytes = 4, .minimum = 1}, rows);
    visitor.number({.name = "columns", .bytes = 4, .minimum = 1}, columns);
}

Footprint Outfeed::footprint(const Registers& registers, const Geometry& geometry) const {
    const Panels panels =
        hbm_panels(registers, geometry.tensor, hbm_row, {rows, columns}, Register::SourcePanelRows);
    Footprint touched;
    touched.read(MemoryId::Hbm, panels.range());
    touched.write(MemoryId::HostMemory, host_words(registers, host_address, rows, columns));
    return touched;
}

}  // namespace systole::isa
