#include "hw/isa/instructions/product.h"

#include <array>

#include "hw/isa/fields.h"
#include "hw/isa/footprint.h"
#include "hw/isa/panels.h"
#include "hw/isa/program.h"
#include "hw/isa/program_error.h"

namespace systole::isa {

void Product::fields(FieldVisitor& visitor) {
    visitor.flags(std::array<FlagsPart, 4>{FlagField{.bit = 0, .word = "accumulate", .value = accumulate},
                                           FlagField{.bit = 1, .word = "keep", .value = keep_weights},
                                           FlagField{.bit = 2, .word = "windows", .value = windows},
                                           FlagField{.bit = 3, .word = "packed", .value = packed}});
    visitor.number({.name = "dst", .bytes = 3}, result);
    visitor.number({.name = "src", .bytes = 3}, source);
    visitor.number({.name = "rows", .bytes = 4, .minimum = 1}, rows);
    visitor.number({.name = "depth", .bytes = 2, .minimum = 1}, depth);
    visitor.number({.name = "columns", .bytes = 2, .minimum = 1}, columns);
    visitor.number({.name = "part", .bytes = 1, .absent = 0}, part);
    visitor.rule(part < most_parts, "part must be 0, 1 or 2");
    visitor.rule(part == 0 || !packed, "bfloat16 has one part");
}

Footprint Product::footprint(const Registers& registers, const Geometry& geometry) const {
    check_weights(geometry, depth, columns);
    const std::uint64_t first = registers[Register::ProductFirst];
    const RowRange read =
        windows ? pixel_panels(registers, geometry.tensor, source, rows, first + depth, packed).range()
                : panels_of(registers, geometry.tensor, source, {rows, first + depth},
                            Register::SourcePanelRows, packed)
                      .range();
    const RowRange written =
        panels_of(registers, geometry.tensor, result, {rows, columns}, Register::ResultPanelRows).range();
    if (written.overlaps(read)) throw ProgramError("it may not write rows that it reads");
    Footprint touched;
    touched.read(MemoryId::VectorMemory, read);
    touched.write(MemoryId::VectorMemory, written);
    return touched;
}

}  // namespace systole::isa
