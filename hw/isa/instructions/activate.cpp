#include "hw/isa/instructions/activate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>

#include "base/arithmetic.h"
#include "hw/isa/block.h"
#include "hw/isa/fields.h"
#include "hw/isa/operands.h"
#include "hw/isa/program.h"
#include "hw/isa/program_error.h"
#include "hw/isa/rows.h"

namespace systole::isa {
namespace {

using enum DataType;

constexpr FormatCode output_code{
    .bits = {{{.place = 2, .word = "wide"}, {.place = 3}, {.place = 4}}},
    .formats = {Uint8, Int16, Int8, Uint16, Bfloat16, Float32, Int32, std::nullopt}};

std::uint64_t columns_of(const Registers& registers, const Geometry& geometry) {
    const std::uint64_t columns = at_least_one(registers, Register::ActivationColumns);
    if (columns > geometry.columns) {
        throw ProgramError(
            fmt::format("activation.columns is {}; the array has {}", columns, geometry.columns));
    }
    return columns;
}

/// The columns that an instruction reads, and the bytes that it writes of a pixel.
struct PixelPart {
    std::uint64_t columns = 0;
    std::uint64_t pixel_bytes = 0;
    std::uint64_t begin = 0;  ///< first byte in the pixel
    std::uint64_t end = 0;
};

/// The columns are those of `pixels` pixels.
PixelPart pixel_part(const Registers& registers, const Geometry& geometry, std::uint64_t element_bytes,
                     std::uint64_t pixels) {
    PixelPart part;
    part.columns = columns_of(registers, geometry);
    const std::uint64_t first_column = registers[Register::ActivationFirstColumn];
    if (first_column > geometry.columns - part.columns) {
        throw ProgramError(
            fmt::format("activation.first_column is {}; with {} columns from there on it may be at most {}",
                        first_column, part.columns, geometry.columns - part.columns));
    }
    part.pixel_bytes = at_least_one(registers, Register::ActivationPixelBytes);
    part.begin = registers[Register::ActivationChannelOffset];
    part.end = part.begin + part.columns / pixels * element_bytes;
    if (part.end > part.pixel_bytes) {
        throw ProgramError(
            fmt::format("activation.pixel_bytes is {}; the columns end at byte {} of the pixel",
                        part.pixel_bytes, part.end));
    }
    return part;
}

/// The first and the last output of an instruction: pixels, or blocks of them.
struct OutputRange {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
};

/// The rows from the first byte of the first block, in its first line, to the last byte of the last block, in
/// its last line. Of a block, only what lies inside the image counts.
RowRange written_blocks(const Registers& registers, std::uint64_t first_row, const OutputRange& outputs,
                        const BlockGeometry& blocks, const PixelPart& part, std::uint64_t row_bytes) {
    const auto bytes_before = [&](std::uint64_t line, std::uint64_t column) {
        return saturating_product(line * blocks.output_width + column, part.pixel_bytes);
    };
    const auto last_of = [](std::uint64_t block, std::uint64_t size, std::uint64_t output) {
        return std::min((block + 1) * size, output) - 1;
    };
    const std::uint64_t of_image = blocks.of_image();
    const std::uint64_t first = outputs.first % of_image;
    const std::uint64_t last = outputs.last % of_image;
    const std::uint64_t first_byte =
        bytes_before(first / blocks.across() * blocks.height, first % blocks.across() * blocks.width);
    const std::uint64_t last_byte =
        bytes_before(last_of(last / blocks.across(), blocks.height, blocks.output_height),
                     last_of(last % blocks.across(), blocks.width, blocks.output_width));
    const ImageLayout layout = {.first_row = first_row,
                                .image_bytes = bytes_before(blocks.output_height, 0),
                                .image_rows = Register::ActivationImageRows,
                                .row_bytes = row_bytes};
    return image_byte_rows(
        layout, registers,
        {.image = outputs.first / of_image, .byte = saturating_sum(first_byte, part.begin)},
        {.image = outputs.last / of_image, .byte = saturating_sum(last_byte, part.end)});
}

}  // namespace

bool Activate::looks_up() const {
    switch (function) {
        case ActivationFunction::Identity:
            return false;
        case ActivationFunction::Lookup:
            return true;
    }
    throw std::logic_error("an activation function that does not exist");
}

void Activate::fields(FieldVisitor& visitor) {
    bool lookup = looks_up();
    bool is_real = are_real(multipliers);
    bool is_even = round_to_even(multipliers);
    visitor.flags(std::array<FlagsPart, 5>{
        FlagField{.bit = 0, .word = "lookup", .value = lookup, .clear_word = "identity"},
        FlagField{.bit = 1, .word = "load", .value = load_parameters},
        FlagField{.bit = 5, .word = "real", .value = is_real},
        FlagField{.bit = 6, .word = "even", .value = is_even},
        FormatField{.name = "output", .value = output, .code = output_code}});
    function = lookup ? ActivationFunction::Lookup : ActivationFunction::Identity;
    multipliers = multipliers_of(is_real, is_even);
    visitor.number({.name = "ub", .bytes = 3}, unified_buffer_row);
    visitor.number({.name = "acc", .bytes = 2}, accumulator_row);
    visitor.number({.name = "rows", .bytes = 2}, length);
    visitor.number({.name = "first", .bytes = 4, .absent = 0}, first_output);
    visitor.rule(length > 0 || load_parameters, "rows is 0; it must be at least 1 without load");
    check_vector_format(visitor, "output", output);
}

Footprint Activate::footprint(const Registers& registers, const Geometry& geometry) const {
    Footprint result;
    if (load_parameters) {
        result.read(MemoryId::UnifiedBuffer,
                    buffer_rows(registers[Register::ActivationParametersRow],
                                divide_up(parameter_bytes(multipliers) * columns_of(registers, geometry),
                                          geometry.rows)));
        if (looks_up()) {
            result.read(MemoryId::UnifiedBuffer, buffer_rows(registers[Register::ActivationTableRow],
                                                             divide_up(table_bytes(output), geometry.rows)));
        }
    }
    if (length == 0) return result;

    check_output_range(registers);
    const auto blocks = block_geometry(registers);
    if (blocks) check_blocks_are_outputs(registers, *blocks);
    const PixelPart part = pixel_part(registers, geometry, bytes_of(output), blocks ? blocks->pixels() : 1);
    const std::uint64_t pixels = at_least_one(registers, Register::ActivationOutputsPerImage);
    const std::uint64_t last_output = std::uint64_t{first_output} + length - 1;
    const RowRange sums = accumulator_rows(accumulator_row, length);
    if (blocks) {
        result.write(MemoryId::UnifiedBuffer,
                     written_blocks(registers, unified_buffer_row, {first_output, last_output}, *blocks, part,
                                    geometry.rows));
        result.read(MemoryId::Accumulators, sums);
        return result;
    }
    const ImageLayout layout = {.first_row = unified_buffer_row,
                                .image_bytes = pixels * part.pixel_bytes,
                                .image_rows = Register::ActivationImageRows,
                                .row_bytes = geometry.rows};
    result.write(
        MemoryId::UnifiedBuffer,
        image_byte_rows(
            layout, registers,
            {.image = first_output / pixels, .byte = (first_output % pixels) * part.pixel_bytes + part.begin},
            {.image = last_output / pixels, .byte = (last_output % pixels) * part.pixel_bytes + part.end}));
    result.read(MemoryId::Accumulators, sums);
    return result;
}

}  // namespace systole::isa
