#pragma once

#include "hw/base/cycle.h"
#include "hw/isa/operands.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"

namespace systole::timing {

/// Cycles of array input that a streamed row takes. The machine lists the formats: programs have passed
/// `check_formats`, others are a std::logic_error.
Cycle array_passes(const isa::MatrixFlags& flags, const machine::MatrixUnitConfig& array);

/// Throws isa::ProgramError, naming the instruction, where one multiplies number formats that the machine
/// does not list.
void check_formats(const isa::Program& program, const machine::MachineConfig& machine);

}  // namespace systole::timing
