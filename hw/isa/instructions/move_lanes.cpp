#include "hw/isa/instructions/move_lanes.h"

#include "hw/isa/fields.h"
#include "hw/isa/footprint.h"
#include "hw/isa/panels.h"
#include "hw/isa/program.h"
#include "hw/isa/program_error.h"

namespace systole::isa {
namespace {

/// The rows of the panels that have columns from `first` on.
RowRange rows_from(const Panels& panels, std::uint64_t first, const TensorShape& shape) {
    return {.first = panels.first_row_of(first / shape.lanes), .last = panels.range().last};
}

}  // namespace

void MoveLanes::fields(FieldVisitor& visitor) {
    visitor.number({.name = "dst", .bytes = 3}, result);
    visitor.number({.name = "src", .bytes = 3}, source);
    visitor.number({.name = "rows", .bytes = 4, .minimum = 1}, rows);
    visitor.number({.name = "columns", .bytes = 4, .minimum = 1}, columns);
    visitor.number({.name = "first", .bytes = 4, .absent = 0}, first);
    visitor.number({.name = "to", .bytes = 4, .absent = 0}, to);
}

Footprint MoveLanes::footprint(const Registers& registers, const Geometry& geometry) const {
    const TensorShape& shape = geometry.tensor;
    const RowRange read =
        rows_from(panels_of(registers, shape, source, {rows, std::uint64_t{first} + columns},
                            Register::SourcePanelRows),
                  first, shape);
    const RowRange written = rows_from(
        panels_of(registers, shape, result, {rows, std::uint64_t{to} + columns}, Register::ResultPanelRows),
        to, shape);
    if (written.overlaps(read)) throw ProgramError("it may not write rows that it reads");
    Footprint touched;
    touched.read(MemoryId::VectorMemory, read);
    touched.write(MemoryId::VectorMemory, written);
    return touched;
}

}  // namespace systole::isa
