#include "hw/isa/instructions/transpose.h"

#include "hw/isa/fields.h"
#include "hw/isa/footprint.h"
#include "hw/isa/panels.h"
#include "hw/isa/program.h"
#include "hw/isa/program_error.h"

namespace systole::isa {

void Transpose::fields(FieldVisitor& visitor) {
    visitor.number({.name = "dst", .bytes = 3}, result);
    visitor.number({.name = "src", .bytes = 3}, source);
    visitor.number({.name = "rows", .bytes = 2, .minimum = 1}, rows);
    visitor.number({.name = "columns", .bytes = 2, .minimum = 1}, columns);
}

Footprint Transpose::footprint(const Registers& /*registers*/, const Geometry& geometry) const {
    check_lanes(geometry.tensor, "rows", rows);
    check_lanes(geometry.tensor, "columns", columns);
    const RowRange read = memory_rows(source, rows);
    const RowRange written = memory_rows(result, columns);
    if (written.overlaps(read)) throw ProgramError("it may not write rows that it reads");
    Footprint touched;
    touched.read(MemoryId::VectorMemory, read);
    touched.write(MemoryId::VectorMemory, written);
    return touched;
}

}  // namespace systole::isa
