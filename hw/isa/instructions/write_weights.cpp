#include "hw/isa/instructions/write_weights.h"

#include <fmt/format.h>

#include <array>

#include "hw/isa/fields.h"
#include "hw/isa/operands.h"
#include "hw/isa/program_error.h"
#include "hw/isa/rows.h"

namespace systole::isa {

void WriteWeights::fields(FieldVisitor& visitor) {
    visitor.flags(std::array<FlagsPart, 2>{FlagField{.bit = 0, .word = "signed", .value = is_signed},
                                           FlagField{.bit = 1, .word = "transposed", .value = transposed}});
    visitor.number({.name = "tile", .bytes = 4}, tile);
    visitor.number({.name = "ub", .bytes = 3}, unified_buffer_row);
    visitor.number({.name = "first", .bytes = 2, .absent = 0}, first_byte);
    visitor.number({.name = "stride", .bytes = 4}, stride);
    visitor.number({.name = "rows", .bytes = 2, .minimum = 1}, rows);
    visitor.number({.name = "columns", .bytes = 2, .minimum = 1}, columns);
    visitor.number({.name = "blocks", .bytes = 2, .minimum = 1, .absent = 1}, blocks);
}

Footprint WriteWeights::footprint(const Registers& registers, const Geometry& geometry) const {
    const auto check = [&](std::string_view what, std::uint64_t written, std::uint32_t most) {
        if (written <= most) return;
        throw ProgramError(
            fmt::format("its blocks take {} {} of the tile; the array has {}", written, what, most));
    };
    check("rows", tile_rows(), geometry.rows);
    check("columns", tile_columns(), geometry.columns);
    check_weight_zero_point(registers);
    const std::uint64_t last_byte = first_byte + std::uint64_t{stride} * (rows - 1U) + source_bytes() - 1;
    Footprint result;
    result.read(MemoryId::UnifiedBuffer,
                buffer_rows(unified_buffer_row + first_byte / geometry.rows,
                            last_byte / geometry.rows - first_byte / geometry.rows + 1));
    result.write(MemoryId::WeightMemory, {.first = tile, .last = std::uint64_t{tile} + 1});
    return result;
}

}  // namespace systole::isa
