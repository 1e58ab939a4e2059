#pragma once

#include "hw/isa/registers.h"

namespace systole::isa {

/// Throws ProgramError unless output.zero_point, output.minimum and output.maximum are numbers of int8 or
/// uint8, the latter two in order.
void check_result_range(const Registers& registers, bool is_signed);

/// Throws ProgramError unless a zero point is a number of int8 or uint8.
void check_zero_point(const Registers& registers, Register reg, bool is_signed);

}  // namespace systole::isa
