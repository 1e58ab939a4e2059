#pragma once

#include <optional>
#include <string>

#include "hw/isa/assembly/host_labels.h"
#include "hw/isa/assembly/operands.h"
#include "hw/isa/instruction.h"

namespace systole::isa {

/// The instruction the statement stands for; none if its first word is not a mnemonic. Takes all
/// operands.
std::optional<Instruction> parse_instruction(Operands& operands, const HostAddresses& addresses);

/// The instruction as one line of assembly without the line's end. Operands that have the value they
/// may be left out for are left out. Values out of range are printed too: this is for messages as well.
std::string instruction_text(const Instruction& instruction, const HostLabels& labels);

}  // namespace systole::isa
