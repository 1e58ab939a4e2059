#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hw/isa/program.h"

namespace systole::isa {

/// The program as assembly (see docs/isa.md). `assemble` turns the text into the same program again;
/// assembling and disassembling such a text gives the same text.
std::string disassemble(const Program& program);

/// The program that a text describes. Throws ProgramError "file:line:column: token: rule" at the first error;
/// `file_name` is the file's name in messages.
Program assemble(std::string_view text, std::string_view file_name);

/// The instruction as one line of assembly, for messages. Host addresses are numbers.
std::string to_string(const Instruction& instruction);

/// Each instruction of a valid program (see `validate`) as a line of `disassemble`: host addresses are
/// labels.
std::vector<std::string> instruction_texts(const Program& program);

}  // namespace systole::isa
