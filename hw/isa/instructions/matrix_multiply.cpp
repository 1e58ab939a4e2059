#include "hw/isa/instructions/matrix_multiply.h"

#include "base/arithmetic.h"
#include "hw/isa/fields.h"
#include "hw/isa/rows.h"

namespace systole::isa {

void MatrixMultiply::fields(FieldVisitor& visitor) {
    visit_flags(visitor, flags);
    visitor.number({.name = "repeat", .bytes = 1, .absent = 0}, repeat);
    visitor.number({.name = "ub", .bytes = 3}, unified_buffer_row);
    visitor.number({.name = "acc", .bytes = 2}, accumulator_row);
    visitor.number({.name = "rows", .bytes = 4, .minimum = 1}, length);
    visitor.rule(!flags.keep_weights || repeat == 0, "repeat must be 0 with keep");
}

Footprint MatrixMultiply::footprint(const Registers& registers, const Geometry& /*geometry*/) const {
    check_weight_zero_point(registers, flags);
    const std::uint64_t stride = at_least_one(registers, Register::MultiplyRowStride);
    const std::uint64_t rows_of_repetition = bytes_of(flags.activations);
    const std::uint64_t to_last_streamed_row = (std::uint64_t{length} - 1) * stride;
    Footprint result;
    result.read(
        MemoryId::UnifiedBuffer,
        buffer_rows(unified_buffer_row,
                    saturating_sum(to_last_streamed_row, (std::uint64_t{repeat} + 1) * rows_of_repetition)));
    // An accumulating instruction also reads them.
    result.write(MemoryId::Accumulators, accumulator_rows(accumulator_row, length));
    return result;
}

}  // namespace systole::isa
