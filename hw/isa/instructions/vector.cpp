#include "hw/isa/instructions/vector.h"

#include <fmt/format.h>

#include <array>
#include <stdexcept>

#include "base/arithmetic.h"
#include "hw/isa/fields.h"
#include "hw/isa/image_slices.h"
#include "hw/isa/operands.h"
#include "hw/isa/program.h"
#include "hw/isa/program_error.h"
#include "hw/isa/rows.h"
#include "hw/isa/window.h"

namespace systole::isa {
namespace {

using enum DataType;

constexpr FormatCode elements_code{
    .bits = {{{.place = 0, .word = "signed"}, {.place = 2, .word = "wide"}, {.place = 3}}},
    .formats = {Uint8, Int8, Int16, std::nullopt, Bfloat16, Float32, Int32, Uint16},
    .reserved_rule = "signed is not for wide elements, which always are"};

constexpr std::array<std::string_view, 5> operation_names = {"add", "multiply", "lookup", "max_pool",
                                                             "average_pool"};

}  // namespace

bool Vector::is_pooling() const {
    switch (operation) {
        case VectorOperation::Add:
        case VectorOperation::Multiply:
        case VectorOperation::Lookup:
            return false;
        case VectorOperation::MaxPool:
        case VectorOperation::AveragePool:
            return true;
    }
    throw std::logic_error("a vector operation that does not exist");
}

bool Vector::has_other() const {
    switch (operation) {
        case VectorOperation::Add:
        case VectorOperation::Multiply:
            return true;
        case VectorOperation::Lookup:
        case VectorOperation::MaxPool:
        case VectorOperation::AveragePool:
            return false;
    }
    throw std::logic_error("a vector operation that does not exist");
}

void Vector::fields(FieldVisitor& visitor) {
    visitor.choice("operation", operation_names, operation);
    visitor.flags(
        std::array<FlagsPart, 3>{FormatField{.name = "elements", .value = elements, .code = elements_code},
                                 FlagField{.bit = 1, .word = "count_padding", .value = count_padding},
                                 FlagField{.bit = 4, .word = "even", .value = half_to_even}});
    visitor.number({.name = "dst", .bytes = 3}, destination_row);
    visitor.number({.name = "src", .bytes = 3}, source_row);
    visitor.number({.name = "other", .bytes = 3, .absent = 0}, other_row);
    visitor.number({.name = "line", .bytes = 4, .absent = 0}, first_line);
    visitor.number({.name = is_pooling() ? "lines" : "rows", .bytes = 4, .minimum = 1}, length);
    visitor.rule(has_other() || other_row == 0, "other is for add and multiply");
    visitor.rule(has_other() || !half_to_even, "even is for add and multiply");
    visitor.rule(is_pooling() || first_line == 0, "line is for pooling");
    visitor.rule(is_pooling() || !count_padding, "count_padding is for pooling");
    check_vector_format(visitor, "elements", elements);
    visitor.rule(!is_pooling() || bytes_of(elements) == 1, "wide is not for pooling");
}

Footprint Vector::footprint(const Registers& registers, const Geometry& geometry) const {
    Footprint result;
    if (is_pooling()) {
        check_window(registers);
        check_pooling_window(registers);
        if (!count_padding) check_windows_meet_image(registers);
        const LineRange lines = {.first = first_line, .count = length};
        const RowRange read = read_images(registers, source_row, lines, 1, geometry.rows);
        const RowRange written = written_lines(registers, destination_row, lines, geometry.rows);
        result.read(MemoryId::UnifiedBuffer, read);
        result.write(MemoryId::UnifiedBuffer, written);
        if (written.overlaps(read)) {
            throw ProgramError(
                fmt::format("dst is {}; pooling may not write rows that it reads", destination_row));
        }
        return result;
    }
    const ImageSlices source = image_slices(registers, Register::VectorSourceImageRows, source_row, length);
    const ImageSlices destination =
        image_slices(registers, Register::VectorDestinationImageRows, destination_row, length);
    result.read(MemoryId::UnifiedBuffer, source.range());
    check_in_place(destination, source);
    if (has_other()) {
        check_output_range(registers);
        const ImageSlices other = image_slices(registers, Register::VectorOtherImageRows, other_row, length);
        result.read(MemoryId::UnifiedBuffer, other.range());
        check_in_place(destination, other);
    } else {
        result.read(MemoryId::UnifiedBuffer, buffer_rows(registers[Register::ActivationTableRow],
                                                         divide_up(table_bytes(elements), geometry.rows)));
    }
    result.write(MemoryId::UnifiedBuffer, destination.range());
    return result;
}

}  // namespace systole::isa
