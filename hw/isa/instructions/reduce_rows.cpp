#include "hw/isa/instructions/reduce_rows.h"

#include <array>

#include "hw/isa/fields.h"
#include "hw/isa/footprint.h"
#include "hw/isa/panels.h"
#include "hw/isa/program.h"
#include "hw/isa/program_error.h"

namespace systole::isa {

void ReduceRows::fields(FieldVisitor& visitor) {
    visitor.choice("reduction", reduction_names, reduction);
    visitor.flags(std::array<FlagsPart, 1>{FlagField{.bit = 0, .word = "accumulate", .value = accumulate}});
    visitor.number({.name = "dst", .bytes = 3}, result);
    visitor.number({.name = "src", .bytes = 3}, source);
    visitor.number({.name = "rows", .bytes = 4, .minimum = 1}, rows);
    visitor.number({.name = "columns", .bytes = 4, .minimum = 1}, columns);
}

Footprint ReduceRows::footprint(const Registers& registers, const Geometry& geometry) const {
    const TensorShape& shape = geometry.tensor;
    const RowRange read =
        panels_of(registers, shape, source, {rows, columns}, Register::SourcePanelRows).range();
    const RowRange written =
        panels_of(registers, shape, result, {1, columns}, Register::ResultPanelRows).range();
    if (written.overlaps(read)) throw ProgramError("it may not write rows that it reads");
    Footprint touched;
    touched.read(MemoryId::VectorMemory, read);
    touched.write(MemoryId::VectorMemory, written);
    return touched;
}

}  // namespace systole::isa
