#pragma once

#include <span>

#include "hw/isa/instruction.h"

namespace systole::functional {

/// The instructions before the first halt. Throws ProgramError if there is none.
std::span<const isa::Instruction> until_halt(std::span<const isa::Instruction> instructions);

}  // namespace systole::functional
