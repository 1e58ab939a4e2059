#include "hw/isa/instructions/activate.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <stdexcept>

#include "hw/base/arithmetic.h"
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

/// The columns that an instruction reads, and their bytes within a written pixel.
struct PixelPart {
    std::uint64_t columns = 0;
    std::uint64_t pixel_bytes = 0;
    std::uint64_t begin = 0;  ///< first byte in the pixel
    std::uint64_t end = 0;
};

PixelPart pixel_part(const Registers& registers, const Geometry& geometry, std::uint64_t element_bytes) {
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
    part.end = part.begin + part.columns * element_bytes;
    if (part.end > part.pixel_bytes) {
        throw ProgramError(
            fmt::format("activation.pixel_bytes is {}; the columns end at byte {} of the pixel",
                        part.pixel_bytes, part.end));
    }
    return part;
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
    visitor.flags(std::array<FlagsPart, 3>{
        FlagField{.bit = 0, .word = "lookup", .value = lookup, .clear_word = "identity"},
        FlagField{.bit = 1, .word = "load", .value = load_parameters},
        FormatField{.name = "output", .value = output, .code = output_code}});
    function = lookup ? ActivationFunction::Lookup : ActivationFunction::Identity;
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
        result.buffer_read_other =
            buffer_rows(registers[Register::ActivationParametersRow],
                        divide_up(parameter_bytes * columns_of(registers, geometry), geometry.rows));
        if (looks_up()) {
            result.buffer_read_table = buffer_rows(registers[Register::ActivationTableRow],
                                                   divide_up(table_bytes(output), geometry.rows));
        }
    }
    if (length == 0) return result;

    check_output_range(registers);
    const PixelPart part = pixel_part(registers, geometry, bytes_of(output));
    const std::uint64_t pixels = at_least_one(registers, Register::ActivationOutputsPerImage);
    const ImageLayout layout = {.first_row = unified_buffer_row,
                                .image_bytes = pixels * part.pixel_bytes,
                                .image_rows = Register::ActivationImageRows,
                                .row_bytes = geometry.rows};
    const std::uint64_t last_output = std::uint64_t{first_output} + length - 1;

    result.accumulator_read = accumulator_rows(accumulator_row, length);
    result.buffer_write = image_byte_rows(
        layout, registers,
        {.image = first_output / pixels, .byte = (first_output % pixels) * part.pixel_bytes + part.begin},
        {.image = last_output / pixels, .byte = (last_output % pixels) * part.pixel_bytes + part.end});
    return result;
}

}  // namespace systole::isa
