#pragma once

#include <cstddef>
#include <string>

#include "base/user_error.h"

namespace systole::isa {

/// A program, its text or its file breaks a rule. The message names the place (file and line, byte
/// offset or instruction number), the value and the rule, in one line.
class ProgramError : public UserError {
public:
    using UserError::UserError;
};

/// The same, at a line of the text from which the program was assembled. The message names neither file nor
/// line: the catcher, who knows the file's name, puts both in front of it.
class ProgramErrorAtLine : public ProgramError {
public:
    ProgramErrorAtLine(const std::string& message, std::size_t text_line)
        : ProgramError(message), line(text_line) {}

    const std::size_t line;  ///< from 1
};

}  // namespace systole::isa
