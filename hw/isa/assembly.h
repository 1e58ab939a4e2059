#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hw/isa/program.h"

namespace systole::isa {

/// The program as assembly (see docs/isa.md), in a form of which `assemble` makes the same program
/// again, and of the text of a disassembled program the same text.
std::string disassemble(const Program& program);

/// The program a text describes. Throws ProgramError "file:line:column: token: rule" at the first
/// error; `file_name` is what messages call the text.
Program assemble(std::string_view text, std::string_view file_name);

/// The instruction as one line of assembly, for messages. Host addresses are numbers.
std::string to_string(const Instruction& instruction);

/// Each instruction of the program as in `disassemble`: host addresses are labels. The program keeps the
/// rules of `validate`.
std::vector<std::string> instruction_texts(const Program& program);

}  // namespace systole::isa
