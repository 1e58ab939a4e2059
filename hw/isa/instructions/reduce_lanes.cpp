#include "hw/isa/instructions/reduce_lanes.h"

#include "hw/isa/fields.h"
#include "hw/isa/footprint.h"
#include "hw/isa/panels.h"
#include "hw/isa/program.h"
#include "hw/isa/program_error.h"

namespace systole::isa {

void ReduceLanes::fields(FieldVisitor& visitor) {
    visitor.choice("reduction", reduction_names, reduction);
    visitor.number({.name = "dst", .bytes = 3}, result);
    visitor.number({.name = "src", .bytes = 3}, source);
    visitor.number({.name = "rows", .bytes = 4, .minimum = 1}, rows);
    visitor.number({.name = "columns", .bytes = 4, .minimum = 1}, columns);
}

Footprint ReduceLanes::footprint(const Registers& registers, const Geometry& geometry) const {
    const TensorShape& shape = geometry.tensor;
    const RowRange read =
        panels_of(registers, shape, source, {rows, columns}, Register::SourcePanelRows).range();
    const RowRange written = memory_rows(result, rows);
    if (written.overlaps(read)) throw ProgramError("it may not write rows that it reads");
    Footprint touched;
    touched.read(MemoryId::VectorMemory, read);
    touched.write(MemoryId::VectorMemory, written);
    return touched;
}

}  // namespace systole::isa
