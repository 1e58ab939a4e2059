#include "hw/isa/instructions/load_weights.h"

#include <array>

#include "hw/isa/fields.h"
#include "hw/isa/footprint.h"
#include "hw/isa/panels.h"
#include "hw/isa/program.h"

namespace systole::isa {

void LoadWeights::fields(FieldVisitor& visitor) {
    visitor.flags(std::array<FlagsPart, 2>{FlagField{.bit = 0, .word = "transposed", .value = transposed},
                                           FlagField{.bit = 1, .word = "packed", .value = packed}});
    visitor.number({.name = "src", .bytes = 3}, source);
    visitor.number({.name = "depth", .bytes = 2, .minimum = 1}, depth);
    visitor.number({.name = "columns", .bytes = 2, .minimum = 1}, columns);
    visitor.number({.name = "part", .bytes = 1, .absent = 0}, part);
    visitor.rule(part < most_parts, "part must be 0, 1 or 2");
    visitor.rule(part == 0 || !packed, "bfloat16 has one part");
}

Footprint LoadWeights::footprint(const Registers& registers, const Geometry& geometry) const {
    check_weights(geometry, depth, columns);
    const MatrixSize size = transposed ? MatrixSize{columns, depth} : MatrixSize{depth, columns};
    Footprint touched;
    touched.read(
        MemoryId::VectorMemory,
        panels_of(registers, geometry.tensor, source, size, Register::WeightsPanelRows, packed).range());
    return touched;
}

}  // namespace systole::isa
