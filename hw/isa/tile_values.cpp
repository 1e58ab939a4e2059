#include "hw/isa/tile_values.h"

#include <fmt/format.h>

#include "base/data_type.h"
#include "hw/isa/operands.h"
#include "hw/isa/program_error.h"

namespace systole::isa {

void check_zero_point(const Registers& registers, Register reg, bool is_signed) {
    const DataType type = is_signed ? DataType::Int8 : DataType::Uint8;
    const std::int32_t value = registers.as_signed(reg);
    if (value >= lowest_of(type) && value <= highest_of(type)) return;
    throw ProgramError(fmt::format("{} is {}; it must be a number of {}, {} to {}", name(reg), value,
                                   name_of(type), lowest_of(type), highest_of(type)));
}

void check_result_range(const Registers& registers, bool is_signed) {
    check_zero_point(registers, Register::OutputZeroPoint, is_signed);
    check_zero_point(registers, Register::OutputMinimum, is_signed);
    check_zero_point(registers, Register::OutputMaximum, is_signed);
    check_output_range(registers);
}

}  // namespace systole::isa
