#include "hw/isa/operands.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "hw/isa/fields.h"
#include "hw/isa/program_error.h"

namespace systole::isa {

namespace {

using enum DataType;

constexpr FormatCode activations_code{
    .bits = {{{.place = 2, .word = "signed"}, {.place = 3, .word = "wide_a"}, {.place = 5}}},
    .formats = {Uint8, Int8, Uint16, Int16, Bfloat16, Float32, Int32, std::nullopt}};

constexpr FormatCode weights_code{
    .bits = {{{.place = 4, .word = "wide_w"}, {.place = 6}, {.place = 7}}},
    .formats = {Int8, Int16, Bfloat16, Float32, Uint8, Uint16, Int32, std::nullopt}};

}  // namespace

void check_vector_format(FieldVisitor& visitor, std::string_view field, DataType format) {
    if (format == Uint8 || format == Int8 || format == Int16) return;
    visitor.rule(false, fmt::format("{} is {}; the activation unit has uint8, int8 and int16", field,
                                    name_of(format)));
}

void visit_flags(FieldVisitor& visitor, MatrixFlags& flags) {
    visitor.flags(std::array<FlagsPart, 4>{
        FlagField{.bit = 0, .word = "accumulate", .value = flags.accumulate},
        FlagField{.bit = 1, .word = "keep", .value = flags.keep_weights},
        FormatField{.name = "activations", .value = flags.activations, .code = activations_code},
        FormatField{.name = "weights", .value = flags.weights, .code = weights_code}});
}

void check_weight_zero_point(const Registers& registers, const MatrixFlags& flags) {
    const std::int32_t zero_point = registers.as_signed(Register::MultiplyWeightZeroPoint);
    if (zero_point == 0) return;
    if (flags.weights != Int8) {
        throw ProgramError(fmt::format("multiply.weight_zero_point is {}; it must be 0 for weights of {}",
                                       zero_point, name_of(flags.weights)));
    }
    check_weight_zero_point(registers);
}

void check_weight_zero_point(const Registers& registers) {
    const std::int32_t zero_point = registers.as_signed(Register::MultiplyWeightZeroPoint);
    if (zero_point >= lowest_of(Int8) && zero_point <= highest_of(Int8)) return;
    throw ProgramError(fmt::format("multiply.weight_zero_point is {}; it must be from {} to {}", zero_point,
                                   lowest_of(Int8), highest_of(Int8)));
}

void check_output_range(const Registers& registers) {
    const std::int32_t minimum = registers.as_signed(Register::OutputMinimum);
    const std::int32_t maximum = registers.as_signed(Register::OutputMaximum);
    if (minimum > maximum) {
        throw ProgramError(fmt::format("output.minimum is {}; it must be at most output.maximum, which is {}",
                                       minimum, maximum));
    }
}

}  // namespace systole::isa
