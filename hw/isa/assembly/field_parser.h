#pragma once

#include <optional>

#include "hw/isa/assembly/host_labels.h"
#include "hw/isa/assembly/operands.h"
#include "hw/isa/instruction.h"

namespace systole::isa {

/// The instruction the statement stands for; none if its first word is not a mnemonic. Takes all
/// operands.
std::optional<Instruction> parse_instruction(Operands& operands, const HostAddresses& addresses);

}  // namespace systole::isa
