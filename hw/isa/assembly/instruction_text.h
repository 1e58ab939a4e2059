#pragma once

#include <optional>
#include <string>

#include "hw/isa/assembly/host_labels.h"
#include "hw/isa/assembly/operands.h"
#include "hw/isa/instruction.h"

namespace systole::isa {

/// The instruction of a statement; nullopt if its first word is not a mnemonic. Takes all operands.
std::optional<Instruction> parse_instruction(Operands& operands, const HostAddresses& addresses);

/// The instruction as one line of assembly, without the line end. Operands with their default value are left
/// out. Values out of range are printed too, because messages also use this text.
std::string instruction_text(const Instruction& instruction, const HostLabels& labels);

}  // namespace systole::isa
